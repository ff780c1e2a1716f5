"""Words and frames of sentences, of which texts are made."""

from __future__ import annotations

import random

SUBJECTS = """the committee|a careful reader|our neighbour|the old clock|every second ship|the night train
the youngest engineer|nobody in the office|a letter from Lisbon|the river|this chapter|Dr. Okafor|the harbour master
most of the survey|a colder winter|the parser|her grandmother|the treaty of 1742|one of the twins|the whole orchestra
an honest answer|the smallest of the islands|the backup server|his second novel|the garden wall|a retired pilot""".replace(
    "\n", "|"
).split("|")
VERBS = """reached|ignored|explained|outlived|divided|remembered|weighed|carried|repaired|questioned|described
followed|surprised|refused|measured|translated|forgot|replaced|defended|interrupted|abandoned|inherited""".replace(
    "\n", "|"
).split("|")
OBJECTS = """the eastern valley|a box of photographs|three broken promises|the price of salt|its own instructions
the last paragraph|a narrow staircase|the sound of rain|forty pages of notes|the wrong address|an empty platform
the rules of the game|a map without names|the second draft|half of the budget|the boundary between two fields
a recipe for plum cake|the old quarrel about water|the measured values|an unlocked door|the cost of waiting""".replace(
    "\n", "|"
).split("|")
TAILS = """before the bells rang|without a word|in the spring of 1911|for reasons that were never written down
as if nothing had happened|between two and three o'clock|although the figures said otherwise|with great patience
under a sky the colour of slate|when the market closed|by roughly 12.5 percent|at the request of the mayor
long after the others had left|despite the warnings on page 47|and nobody thought it strange|to everyone's relief
on the far side of the square|until the paint had dried|since the new law came into force""".replace(
    "\n", "|"
).split("|")
LINKS = """However,|In the meantime|By contrast|For example,|It is often said that|As a result|According to the log,
Three weeks later|Strictly speaking,|To be fair,|What is more,|On the other hand,|There is some evidence that""".replace(
    "\n", "|"
).split("|")
NOUNS = """order|invoice|session|cursor|buffer|ticket|parcel|sensor|reading|account|region|branch|worker|queue|token
vector|matrix|lesson|recipe|station|voyage|garden|ledger|window|packet|border|signal|column|margin|corner""".replace(
    "\n", "|"
).split("|")
ACTIONS = """load|parse|merge|split|count|render|fetch|close|check|apply|trim|pack|store|resolve|reduce|rank|encode
shift|scan|match|build|flush|sample|lookup|format|update|remove|collect|convert|validate""".replace(
    "\n", "|"
).split("|")
NAMES = """Amara|Bjørn|Chidi|Dolores|Émile|Fatima|Giorgos|Hana|Ivo|Jarmila|Kofi|Leïla|Mateo|Nadia|Oskar|Priya
Quentin|Rosa|Søren|Tomáš|Ulrike|Vikram|Wanda|Ximena|Yusuf|Zoë""".replace("\n", "|").split("|")
CITIES = [
    "Porto",
    "Graz",
    "Tromsø",
    "Accra",
    "Valparaíso",
    "Kyoto",
    "Izmir",
    "Łódź",
    "Quito",
    "Hobart",
    "Aarhus",
    "Sfax",
    "Leeds",
    "Pune",
]

GERMAN = """Der Bahnhof lag eine halbe Stunde vor der Stadt, und wer den letzten Zug versäumte, ging zu Fuß.
Für die Auswertung wurden nur Messungen berücksichtigt, die länger als zehn Minuten dauerten.
Sie legte das Buch aufgeschlagen auf den Tisch, damit jeder sehen konnte, wie weit sie gekommen war.
Die Bürgermeisterin erklärte, dass über die Straße erst im Herbst entschieden werde.
Im Übrigen gilt: Wer die Schlüssel verliert, bezahlt das neue Schloss.
Niemand wusste, warum die Uhr im Treppenhaus seit Jahren sieben Minuten nachging.
Das Verfahren ist einfach, aber es verlangt Geduld und eine ruhige Hand.
Zwischen den Gärten floss ein Bach, den die Kinder im Sommer jeden Tag neu stauten.""".splitlines()
FRENCH = """Le marché se tenait autrefois sur la grande place, à l'ombre des platanes.
Il faut d'abord chauffer l'eau, puis y verser lentement la farine en remuant sans cesse.
Personne n'avait prévu que la réunion durerait jusqu'à minuit.
Les résultats, présentés au tableau 3, confirment l'hypothèse de départ.
Elle répondit qu'elle n'avait rien vu, ce qui était presque vrai.
Au bout du couloir, une porte peinte en bleu restait toujours fermée.
Cette méthode convient aux petites quantités ; au-delà, mieux vaut une machine.
On raconte que le vieux capitaine parlait à ses cartes comme à des amis.""".splitlines()
SPANISH = """La casa tenía dos patios, y en el segundo crecía un limonero que nadie recordaba haber plantado.
Antes de ejecutar el programa, compruebe que dispone de espacio suficiente en el disco.
El tren salió con retraso, pero llegó a la hora prevista.
Según el informe, el consumo de agua bajó un 8 % en los últimos tres años.
¿Quién iba a creer que aquella carta seguía cerrada después de tanto tiempo?
Mi abuela decía que el pan se hace con harina, agua y ganas de esperar.
No todos estuvieron de acuerdo, aunque al final firmaron el documento.""".splitlines()


def sentence(rng: random.Random) -> str:
    """One English sentence."""
    pick = rng.choice
    core = f"{pick(SUBJECTS)} {pick(VERBS)} {pick(OBJECTS)}"
    shape = rng.randrange(8)
    if shape == 0:
        core = f"{pick(LINKS)} {core} {pick(TAILS)}"
    elif shape == 1:
        core = f"{core}, while {pick(SUBJECTS)} {pick(VERBS)} {pick(OBJECTS)}"
    elif shape == 2:
        core = f"“{core} {pick(TAILS)},” said {pick(NAMES)}"
    elif shape == 3:
        core = f"{pick(NAMES)}, who had come from {pick(CITIES)}, {pick(VERBS)} {pick(OBJECTS)}"
    elif shape == 4:
        core = f"{core}: {pick(OBJECTS)}, {pick(OBJECTS)} and {pick(OBJECTS)}"
    elif shape == 5:
        core = f"{core} {pick(TAILS)} ({rng.randrange(1700, 2026)})"
    else:
        core = f"{core} {pick(TAILS)}"
    return core[0].upper() + core[1:] + pick(".....!?;")[0].replace(";", ".")


def paragraph(rng: random.Random) -> str:
    """A few sentences, now and then in another language."""
    foreign = rng.random()
    if foreign < 0.15:
        lines = rng.choice((GERMAN, FRENCH, SPANISH))
        return " ".join(rng.sample(lines, rng.randrange(2, len(lines))))
    return " ".join(sentence(rng) for _ in range(rng.randrange(2, 7)))
