"""Words of a question that say nothing of what it is about: articles, pronouns, prepositions.

Function words alone: a list that also drops "first", "state" or "research", as those made for
topic models do, drops what people ask for.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["STOP_WORDS"]

_LISTS: Final = {
    "english": """
        a about above after again against all am an and any are aren as at be because been before
        being below between both but by can cannot could couldn did didn do does doesn doing don
        down during each few for from further had hadn has hasn have haven having he her here hers
        herself him himself his how i if in into is isn it its itself just me more most my myself
        no nor not of off on once only or other our ours ourselves out over own same she should
        shouldn so some such than that the their theirs them themselves then there these they this
        those through to too under until up very was wasn we were weren what when where which while
        who whom whose why will with would wouldn you your yours yourself yourselves
    """,
    "german": """
        aber alle allem allen aller alles als also am an ander andere anderem anderen anderer
        anderes auch auf aus bei bin bis bist da damit dann das dass dein deine deinem deinen deiner
        dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort du durch
        ein eine einem einen einer eines er es etwas euch euer eure für gegen hab habe haben hat
        hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins
        ist ja jede jedem jeden jeder jedes jene jenem jenen jener jenes jetzt kann kein keine
        keinem keinen keiner können könnte man mein meine meinem meinen meiner mich mir mit muss
        nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner sich sie
        sind so solche soll sollte sondern über um und uns unser unsere unter viel vom von vor wann
        war waren warum was weil welche welchem welchen welcher welches wenn wer werde werden wem
        wen wessen wie wieder wieso wird wir wo wohin wollen womit wurde wurden während würde würden
        zu zum zur zwar zwischen
    """,
    "french": """
        à ai as au aux avec avez avons avait avaient c ce ceci cela ces cet cette ceux chez comme
        comment combien d dans de des dont donc du elle elles en est et étaient était être eu eux
        fait il ils j je l la le lequel laquelle les lesquels lesquelles leur leurs lui m ma mais me
        mes moi mon n ne ni nos notre nous on ont ou où par pas pour pourquoi qu quand que quel
        quelle quelles quels qui quoi s sa sans se sera ses si soi son sont sous suis sur t ta te
        tes toi ton tu un une vos votre vous y
    """,
    "spanish": """
        a al algo ante antes como cómo con contra cual cuál cuales cuáles cuando cuándo cuánto
        cuánta cuántos cuántas de del desde donde dónde durante e el él ella ellas ellos en entre
        era eran es esa esas ese eso esos esta está están estas este esto estos fue fueron ha había
        habían han hasta hay la las le les lo los me mi mis muy ni no nos nosotros nuestra nuestro o
        para pero por porque qué que quien quién quienes se sea ser si sí sin sobre son su sus
        también te tiene tienen tu tú tus un una unas uno unos y ya yo
    """,
    "italian": """
        a ad agli ai al alla alle allo anche c che chi ci come con cosa cui d da dagli dai dal dalla
        dalle dallo degli dei del dell della delle dello di dove e è ed era erano essere fu gli ha
        hai hanno ho i il in io l la le lei li lo loro lui m ma mi mia mie miei mio ne negli nei nel
        nella nelle nello noi non nostra nostro o per perché più quale quali quando quanta quante
        quanti quanto quella quelle quelli quello questa queste questi questo s se sei si sia sono
        sta su sua sue sugli sui sul sulla sulle sullo suo suoi t ti tra tu tua tuo un una uno v vi
        voi vostra vostro
    """,
    "portuguese": """
        a à ao aos aquela aquelas aquele aqueles aquilo as às até com como da das de dela delas dele
        deles depois do dos e é ela elas ele eles em entre era eram essa essas esse esses esta está
        estão estas este estes eu foi foram há isso isto já lhe lhes mais mas me mesmo meu meus
        minha minhas muito na não nas nem no nos nós nossa nosso num numa o onde os ou para pela
        pelas pelo pelos por porque qual quais quando quanta quantas quanto quantos que quem são se
        sem ser seu seus só sua suas também te tem têm teu tua tu um uma você vocês
    """,
    "dutch": """
        aan al als bij ben bent dan dat de den der deze die dit doch doen door dus een en er had
        hadden heb hebben heeft hem het hier hij hoe hoeveel hun iets ik in is ja je kan kon kunnen
        maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op
        over te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want waren was wat
        we wel welk welke werd wie wij wil worden wordt zal ze zelf zich zij zijn zo zonder zou
    """,
    "swedish": """
        alla allt att av blev bli blir de dem den denna deras dess dessa det detta dig din dina ditt
        du där då efter ej eller en er era ett från för ha hade han hans har henne hennes hon honom
        hur här i icke inom inte jag ju kan kunde man med mellan men mig min mina mitt mot mycket
        nu när någon något några och om oss på sig sin sina sitt ska skulle som så till under upp ut
        utan vad var varför vara vart vem vems vi vid vilka vilkas vilken vilket är
    """,
    "danish": """
        af alle alt anden at blev bliver da de dem den denne der deres det dette dig din dine disse
        dit du efter eller en end er et for fra ham han hans har havde hende hendes her hos hun
        hvad hvem hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornår i ikke ind jeg jer jo
        kan kunne man med meget men mig min mine mit mod nogle noget nogen nu når og også om op os
        over på sig sin sine sit skal skulle som til ud under var vi vil ville være været
    """,
    "norwegian": """
        alle at av ble bli blir da de deg dem den denne der deres det dette deg din dine disse ditt
        du eller en er et etter for fra før ha hadde ham han hans har henne hennes her hun hva hvem
        hvilke hvilken hvilket hvis hvor hvordan hvorfor i ikke inn jeg kan kunne man med meg men
        min mine mitt mot når noe noen nå og også om opp oss over på seg sin sine sitt skal skulle
        som så til under ut var vi vil ville være vært å
    """,
    "russian": """
        а без более бы был была были было быть в вам вас во вот все всех вы где да для до его ее ей
        ему если есть еще же за здесь и из или им их к как какая какие какой какое ко когда кого
        который которая которое которые кто ли меня мне мой моя мы на над нам нас не него нее нет
        ни них но о об он она они оно от очень по под почему при про с сам свой себя сколько со так
        также такой там то тогда того тоже той только том тот ту ты у уже чего чем что чтобы чья эта
        эти это этого этой этом этот эту я
    """,
}

STOP_WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {language: frozenset(words.split()) for language, words in _LISTS.items()}
)
"""By language, folded; a language without a list has none to leave out."""
