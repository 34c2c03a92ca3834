"""Wrong variants of the stages and kernels, made by cosmic-ray: does a test fail for each?"""
