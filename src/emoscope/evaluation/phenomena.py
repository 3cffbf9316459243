"""Wording that misleads models, recognised by word lists: negation, irony, dialect, mixed languages.

The lists miss some and are sometimes wrong: they are for scores on a part of the data, not for labelling a text.
"""

import re
import unicodedata

from emoscope.core.text import words


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEGATIONS = _listed(
    """no not never none nobody nothing nowhere neither nor without hardly barely cannot cant dont doesnt didnt wont
    wouldnt shouldnt couldnt isnt arent wasnt werent havent hasnt hadnt aint nope nah"""
)

# What people write when they mean the opposite; a plain "great" is not enough.
_IRONY = re.compile(
    r"""\b(?:
        (?:oh|just|how)\s+(?:great|wonderful|lovely|brilliant|perfect|fantastic|charming|nice)(?!\s+(?:it|to)\b)
      | (?:yeah|yea|ya|yah|oh|sure)[,\s]+(?:right|sure)(?=\W*$|[.!?,\s]+(?:as|like|because|cause)\b)
      | thanks\s+(?:a\s+lot|for\s+nothing|so\s+much)\s*(?:[.…]{2,}|for\s+nothing)
      | thanks\s+for\s+nothing | as\s+if(?=\W*$) | like\s+(?:you|i)\s+care
      | lucky\s+me | what\s+a\s+(?:surprise|shock(?:er)?|joy|treat) | big\s+surprise | no\s+shit | good\s+for\s+you
      | very\s+(?:mature|clever)
      | (?:slow|big|nice)\s+(?:clap|going|job)(?=\W*$) | way\s+to\s+go | tell\s+me\s+about\s+it | could\s+care\s+less
      | story\s+of\s+my\s+life | (?:such|what)\s+an?\s+(?:genius|hero|gentleman) | sarcas\w+ | iron(?:y|ic|ically)
    )\b
    | (?<!\w)/s(?=\W*$) | \#(?:sarcasm|irony|not)\b | [🙄😒🙃]""",
    re.IGNORECASE | re.VERBOSE,
)

# Scots, Irish, British, Australian, African American, Southern and Indian English; not chat spelling such as "gonna".
_DIALECT = _listed(
    """aye wee lass lassie bairn dinnae cannae didnae wasnae isnae wouldnae bonnie bonny greetin scunnered dreich
    craic eejit feck yous youse gobshite gobsmacked
    chuffed gutted knackered mardy innit blimey bloke bruv blud wanker bollocks shite nowt owt summat mum naff peng
    wagwan mingin minging skint lad lads quid daft reckon
    arvo strewth bogan stoked crikey mozzie drongo
    finna ain't y'all yall imma tryna bruh deadass homie
    yaar yar arre arrey dei machan macha prepone"""
)

_DIALECT_PHRASES = re.compile(
    r"\b(?:well\s+(?:chuffed|jel|good|annoyed|happy|upset)|bloody\s+(?:hell|brilliant|awful|lovely|marvellous)|"
    r"cheers\s+mate|fair\s+dinkum|no\s+worries\s+mate|pure\s+(?:dead|raging|buzzing)|heaps\s+(?:good|of)|"
    r"proper\s+(?:good|annoyed|angry|sad|mad|happy)|dead\s+(?:good|chuffed)|over\s+the\s+moon|"
    r"might\s+could|fixin['’]?g?\s+to|bless\s+(?:your|his|her)\s+heart|do\s+the\s+needful|doing\s+the\s+needful)\b",
    re.IGNORECASE,
)

# Frequent words of Hindi in Latin letters, of Spanish and of French that no English word is spelt like.
_OTHER_LANGUAGES = _listed(
    """hai hain nahi nahin nhi kya kyu kyun kyon kaise kaisi kaun kab kahan mujhe mujhko tujhe tumhe tumhara tumhari
    tumko tera mera meri aap aapka aapki apna apni bahut bahot boht bhut accha acha achha theek thik haan
    pyar pyaar dost dosti bhai yaar baat batao bolo karo karna karunga raha rahi rahe gaya gayi
    hua hui hoon kuch kuchh koi abhi phir lekin magar agar matlab khush gussa dukh dukhi udaas
    zindagi jaan jaana chalo suno arey sahi galat pagal bakwas shukriya dhanyavad namaste aaj
    hola gracias pero porque muy estoy estas eres tengo quiero puedo todos corazon
    amigo amiga feliz triste enojado enojada bueno buenos buenas noches tambien siempre nunca ahora hoy manana contigo
    conmigo mucho mucha jaja jajaja verdad entonces abuela abuelo hermano hermana dinero trabajo
    avec pourquoi toujours jamais beaucoup"""
)


def has_negation(text: str) -> bool:
    """Whether something is negated.

    >>> has_negation("I don't like it"), has_negation("I noted it")
    (True, False)
    """
    return any(word in _NEGATIONS or word.endswith("n't") for word in words(text))


def has_irony(text: str) -> bool:
    """Whether there is a mark of irony: a turn of phrase, rolling eyes, `/s`.

    >>> has_irony("oh great, another flat tyre"), has_irony("that is great")
    (True, False)
    """
    return _IRONY.search(text) is not None


def has_dialect(text: str) -> bool:
    """Whether there are words of a regional English.

    >>> has_dialect("I'm well chuffed"), has_dialect("I am very pleased")
    (True, False)
    """
    return _DIALECT_PHRASES.search(text) is not None or any(word in _DIALECT for word in words(text))


def is_code_mixed(text: str) -> bool:
    """Whether words of Hindi, Spanish or French stand in it, or letters of another script.

    >>> is_code_mixed("mujhe bahut gussa aa raha hai"), is_code_mixed("my house is your house")
    (True, False)
    """
    return any(word in _OTHER_LANGUAGES for word in words(text)) or any(
        character.isalpha() and not unicodedata.name(character, "LATIN").startswith(("LATIN", "MODIFIER", "FEMININE"))
        for character in text
        if not character.isascii()
    )
