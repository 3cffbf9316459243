"""Write the generated part of the personal-data set: `personal_generated.txt`, with Faker.

    python benchmarks/filter_sets/generate.py

Two parts that share neither sentences nor countries: `tuned` may be looked at while rules are written, `held out` may
not. Each line is the part, a tab, and a sentence in which personal data stand as `[[KIND:value]]`.
"""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import phonenumbers
from faker import Faker

SEED = 7
PER_KIND = 22
LOOK_ALIKES = 60
TARGET = Path(__file__).with_name("personal_generated.txt")
LOCALES = {
    "tuned": ["en_US", "en_GB", "en_IN", "es_ES", "de_DE", "fr_FR", "it_IT", "pt_BR"],
    "held out": ["en_AU", "en_CA", "en_IE", "nl_NL", "sv_SE", "pl_PL", "es_MX", "en_NZ"],
}
# Streets are written in every country's own way; these are the ones the rules are meant for.
STREETS = {
    "tuned": ["en_US", "en_GB", "es_ES", "de_DE", "fr_FR", "it_IT"],
    "held out": ["en_AU", "en_CA", "en_NZ", "en_IE", "de_AT", "fr_CH"],
}
ACCOUNTS = {  # of countries without IBAN, Faker gives some that are too short
    "tuned": ["en_GB", "es_ES", "de_DE", "fr_FR", "it_IT", "pt_BR"],
    "held out": ["en_IE", "nl_NL", "pl_PL", "de_AT", "fi_FI", "no_NO"],
}
NAMES = {
    "tuned": ["en_US", "en_GB", "en_IN", "es_ES", "de_DE", "fr_FR"],
    "held out": ["en_AU", "nl_NL", "sv_SE", "pl_PL", "es_MX", "tr_TR"],
}
SENTENCES = {
    "tuned": {
        "EMAIL": ["my email is {}", "write to {} please", "{} is the best way to reach me", "send it 2 {} asap!!"],
        "PHONE": ["my number is {}", "call me on {} tonight", "{} is my mobile", "whatsapp me {} ok"],
        "URL": ["look at this {}", "{} lol", "i read it on {} yesterday", "have you seen {} ?"],
        "CARD": ["my card number is {}", "pay with {} pls", "visa {} exp 10/29", "{} thats the credit card"],
        "IBAN": ["iban {}", "transfer it to {}", "my account is {} ok?", "{} is the bank account"],
        "IP": ["my ip is {}", "the server {} is down", "ping {} please", "{} keeps attacking us"],
        "HANDLE": ["follow {}", "hey {} how are you", "my insta is {}", "{} you have to see this"],
        "ADDRESS": ["i live at {}", "my address is {}", "send the parcel to {} please", "we are at {} come over"],
        "NAME": ["my name is {}", "hi i'm {}", "i met {} yesterday", "{} said hello"],
    },
    "held out": {
        "EMAIL": ["hit me up: {}", "is {} still your mail?", "the invoice went to {} i guess", "add {} to the list"],
        "PHONE": ["ring me at {}", "new number {} save it", "can u text {} for me", "her phone: {}"],
        "URL": ["got it from {}", "this one -> {}", "{} is down again :(", "click {} quick"],
        "CARD": ["charge it to {}", "use my cc {}", "{} is what they have on file", "the long number is {} right?"],
        "IBAN": ["send the money to {} thanks", "bank details: {}", "here you go {}", "pls wire it, {}"],
        "IP": ["i got banned, {} is me", "log says {}", "try {} instead", "who is {} in the logs?"],
        "HANDLE": ["ask {} about it", "tagging {} here", "dm {} if you want in", "lol {} is so funny"],
        "ADDRESS": ["drop it off at {}", "they moved to {}", "party at {} tonight", "the flat is {} i think"],
        "NAME": ["call me {}", "is {} coming too?", "i am {}", "my colleague {} will help"],
    },
}


def personal(fake: Faker, chance: random.Random) -> dict[str, Callable[[], str]]:
    def phone() -> str:
        code = {
            "en_US": "+1", "en_CA": "+1", "en_GB": "+44", "en_IN": "+91", "es_ES": "+34", "de_DE": "+49",
            "fr_FR": "+33", "it_IT": "+39", "pt_BR": "+55", "en_AU": "+61", "en_IE": "+353", "nl_NL": "+31",
            "sv_SE": "+46", "pl_PL": "+48", "es_MX": "+52", "en_NZ": "+64",
        }[fake.locales[0]]  # fmt: skip
        region = fake.locales[0].split("_")[1]
        example = phonenumbers.example_number_for_type(region, phonenumbers.PhoneNumberType.MOBILE)
        # Real numbers' first digits, random last ones; Faker's own are often numbers no country has.
        assert example is not None
        digits = str(example.national_number)
        while True:
            drawn = digits[:-5] + "".join(chance.choice("0123456789") for _ in range(5))
            number = phonenumbers.parse(code + drawn)
            if phonenumbers.is_valid_number(number):
                break
        shapes = phonenumbers.PhoneNumberFormat
        return str(
            phonenumbers.format_number(number, chance.choice([shapes.E164, shapes.INTERNATIONAL, shapes.NATIONAL]))
        )

    def email() -> str:
        address = fake.ascii_free_email() if chance.random() < 0.6 else fake.ascii_company_email()
        user, domain = address.split("@")
        style = chance.random()
        if style < 0.2:
            return f"{user} at {domain.replace('.', ' dot ')}"
        return f"{user} (at) {domain}" if style < 0.3 else address

    def card() -> str:
        digits = str(fake.credit_card_number(chance.choice(["visa16", "mastercard", "amex", "discover"])))
        mark = chance.choice(["", " ", "-"])
        return mark.join(digits[place : place + 4] for place in range(0, 16, 4)) if len(digits) == 16 else digits

    def iban() -> str:
        code = str(fake.iban())
        style = chance.random()
        return " ".join(code[i : i + 4] for i in range(0, len(code), 4)) if style < 0.4 else code

    def url() -> str:
        address = str(fake.url())
        style = chance.random()
        if style < 0.25:
            return address.split("://")[1].rstrip("/")
        return address + str(fake.uri_path()) if style < 0.6 else address

    return {
        "EMAIL": email,
        "PHONE": phone,
        "URL": url,
        "CARD": card,
        "IBAN": iban,
        "IP": lambda: str(fake.ipv4() if chance.random() < 0.7 else fake.ipv6()),
        "HANDLE": lambda: "@" + str(fake.user_name()),
        "ADDRESS": lambda: str(fake.street_address()).replace("\n", ", ").strip(),
        "NAME": lambda: str(fake.first_name() if chance.random() < 0.5 else f"{fake.first_name()} {fake.last_name()}"),
    }


def look_alikes(chance: random.Random, part: str) -> Iterator[str]:
    """What has digits, dots and capitals, and is nobody's."""
    n = chance.randint
    shapes = {
        "tuned": [
            lambda: f"it was ${n(1, 9)},{n(100, 999)}.{n(10, 99)} last week",
            lambda: f"we won {n(60, 120)}-{n(60, 120)}",
            lambda: f"on {n(1, 28):02}/{n(1, 12):02}/{n(1990, 2024)} i think",
            lambda: f"version {n(1, 20)}.{n(0, 20)}.{n(0, 20)} is out",
            lambda: f"see u @ {n(1, 12)}pm",
            lambda: f"order {n(10**6, 10**8)} has not come",
            lambda: f"{n(2, 90)} minutes walk, {n(1, 30)} minutes drive",
        ],
        "held out": [
            lambda: f"paid {n(10, 999)}.{n(10, 99)} eur for that",
            lambda: f"set score {n(0, 7)}-{n(0, 7)} {n(0, 7)}-{n(0, 7)}",
            lambda: f"since {n(1990, 2024)}-{n(1, 12):02}-{n(1, 28):02} {n(10, 23)}:{n(10, 59)}:{n(10, 59)}",
            lambda: f"firmware v{n(1, 20)}.{n(0, 20)}.{n(0, 20)}.{n(0, 300)} broke it",
            lambda: f"bus {n(1, 400)} @ {n(1, 12)}:{n(10, 59)}am",
            lambda: f"booking no {n(10**7, 10**9)}, gate {n(1, 60)}",
            lambda: f"{n(2, 40)} million views in {n(2, 90)} days, {n(1000, 9999)} comments",
        ],
    }[part]
    for number in range(LOOK_ALIKES):
        yield shapes[number % len(shapes)]()


def main() -> None:
    chance = random.Random(SEED)
    lines = []
    for part, sentences in SENTENCES.items():
        for kind, wordings in sentences.items():
            places = {"ADDRESS": STREETS, "NAME": NAMES, "IBAN": ACCOUNTS}.get(kind, LOCALES)[part]
            for number in range(PER_KIND):
                fake = Faker(places[number % len(places)])
                fake.seed_instance(chance.randrange(10**9))
                value = personal(fake, chance)[kind]()
                lines.append(f"{part}\t{chance.choice(wordings).format(f'[[{kind}:{value}]]')}\n")
        lines += [f"{part}\t{text}\n" for text in look_alikes(chance, part)]
    TARGET.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
