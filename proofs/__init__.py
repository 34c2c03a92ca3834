"""The laws of the library, stated as functions, and what shows that they hold."""
