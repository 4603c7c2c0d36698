"""Nouns, names and places of the built-in corpus, as tables.

A line of NOUNS is `class topic: synset, synset, …`; the lemmas of a synset, joined by `/`, are near-synonyms
and stand for each other. `~` marks a mass noun. A synset keeps company with those of its own topic; the topic
`any` holds the words for whole classes.
"""


def words(text: str) -> tuple[str, ...]:
    """The words of a string."""
    return tuple(text.split())


NOUNS = """
person health: doctor/physician, nurse, surgeon, patient, dentist, therapist
person law: lawyer/attorney, judge, detective/investigator, thief/robber, witness, policeman/constable
person law: prisoner/inmate
person school: teacher/instructor, student/pupil, professor/lecturer, librarian, scholar
person kitchen: cook/chef, baker, waiter, butcher, guest/visitor, grocer
person farm: farmer, shepherd, gardener, hunter, rider, miller
person sea: sailor/seaman, fisherman, captain/skipper, swimmer, diver
person music: singer/vocalist, drummer, dancer, actor/performer, pianist, composer
person army: soldier/trooper, general, pilot/aviator, guard/sentry, spy
person business: manager/executive, banker, clerk, investor/shareholder, trader, worker/employee, accountant
person press: reporter/journalist, editor, photographer, writer/author, critic
person state: senator, legislator/lawmaker, minister, mayor, president, ambassador/envoy
person science: scientist/researcher, engineer, chemist, astronomer, inventor
person home: man, woman, boy/lad, girl, child/kid, neighbor, uncle, aunt, grandmother, stranger
person building: carpenter, plumber, builder, painter, electrician
person sport: athlete, runner, goalkeeper/goalie, trainer, referee/umpire, boxer
animal farm: dog/hound, cat, horse, cow, sheep, goat, pig/hog, hen, donkey/mule
animal wild: wolf, fox, lion, tiger, bear, rabbit/hare, deer, elephant, monkey/ape, squirrel
animal sea: whale, shark, dolphin, seal, turtle, duck, goose
food kitchen: apple, sandwich, cake, pie, egg, ~bread, ~cheese, ~soup/broth, ~rice
food kitchen: potato, tomato, onion, ~meat
food farm: carrot, cherry, ~corn/maize, ~wheat
food sea: lobster, oyster
drink kitchen: ~coffee, ~tea, ~milk, ~wine, ~beer/ale, ~juice, ~lemonade
tool building: hammer/mallet, saw, drill, ladder, brush, wrench/spanner
tool farm: shovel/spade, axe/hatchet, bucket/pail, broom
tool kitchen: knife/blade, spoon, pan/skillet
tool sea: rope/cord, net, anchor
tool army: rifle/gun, sword/saber
tool science: telescope, microscope, lens
vehicle home: car/automobile, bicycle/bike, taxi/cab, motorcycle/motorbike
vehicle business: truck/lorry, bus/coach, van, train
vehicle sea: boat, ship/vessel, ferry
vehicle army: helicopter/chopper, airplane/plane, tank
vehicle farm: tractor, wagon/cart
clothes home: shirt, coat/jacket, hat/cap, dress/gown, shoe, scarf, glove
clothes army: uniform, boot, helmet
instrument music: guitar, piano, violin/fiddle, drum, flute, trumpet
document school: book/volume, poem/verse, map, essay
document press: letter/note, newspaper, article, novel
document law: contract/agreement, document, testament
document state: report, speech/address, treaty/pact
document science: journal, thesis
furniture home: sofa/couch, chair/seat, table/desk, bed, lamp/lantern, carpet/rug, cupboard/cabinet, mirror
container kitchen: box/crate, bag/sack, basket, bottle/flask, jar
toy sport: ball, kite, trophy/prize
toy home: doll/puppet, toy, balloon
place health: hospital, clinic, pharmacy
place law: prison/jail, court
place school: school, library, college/university
place kitchen: kitchen, restaurant/diner, bakery
place farm: farm/ranch, barn, field/meadow, garden
place wild: forest/woodland, cave/cavern, valley, mountain, zoo
place sea: beach/shore, harbor/port, lake, river/stream, island
place music: theater, hall, opera
place army: camp, fortress/castle, airport
place business: office, store/shop, market, warehouse/depot
place home: house/home, street/road, park, square/plaza, bridge, village
place building: garage, workshop, attic
place science: laboratory, observatory
place sport: stadium/arena, gym, pool
place state: parliament, palace, embassy
organisation business: company/firm, bank, insurer, airline/carrier, retailer, supplier, brewery, manufacturer
organisation state: government, agency, union, ministry, council, committee/panel
organisation press: publisher, broadcaster
organisation sport: team/squad, club
organisation music: orchestra, choir
event state: meeting/gathering, election/vote, debate, ceremony
event music: concert, festival, wedding
event army: war/conflict, battle
event sport: match, race, tournament/contest
event law: trial/hearing, inquiry
event home: storm/tempest, party, dinner
abstract business: plan/scheme, offer/bid, budget, merger, deal
abstract state: law/statute, proposal/suggestion, policy, reform, ban/prohibition
abstract law: decision/ruling, claim/allegation, verdict
abstract science: theory/hypothesis, discovery, idea/notion, problem/difficulty
money business: price, profit/surplus, loss, revenue/income
money business: cost/expense, export, salary/wage, debt, share/stock
person any: person
animal any: animal/creature
food any: ~food
drink any: ~beverage
tool any: tool/implement
vehicle any: vehicle
clothes any: garment
instrument any: instrument
document any: text
place any: place
organisation any: organization
event any: event
container any: container
"""

# the word that names a whole class; each is a noun of the table too
HYPERNYMS = {
    "person": "person", "animal": "animal", "food": "food", "drink": "beverage", "tool": "tool",
    "vehicle": "vehicle", "clothes": "garment", "instrument": "instrument", "document": "text",
    "place": "place",
    "organisation": "organization", "event": "event", "container": "container",
}  # fmt: skip

PLACE_PREPOSITIONS = {
    "farm/ranch": "on", "field/meadow": "in", "mountain": "on", "beach/shore": "on", "island": "on",
    "bridge": "on",
    "street/road": "on", "airport": "at", "harbor/port": "at", "market": "at", "zoo": "at", "pool": "at",
    "embassy": "at", "court": "in", "lake": "near", "river/stream": "near", "square/plaza": "on",
    "opera": "at",
}  # fmt: skip

IRREGULAR_PLURALS = {
    "policeman": "policemen", "seaman": "seamen", "fisherman": "fishermen", "man": "men", "woman": "women",
    "child": "children", "person": "people", "sheep": "sheep", "deer": "deer", "goose": "geese",
    "wolf": "wolves",
    "thief": "thieves", "knife": "knives", "potato": "potatoes", "tomato": "tomatoes",
    "thesis": "theses", "hypothesis": "hypotheses",
}  # fmt: skip

MALE = words("John Peter Martin Robert Paul David Thomas Henry Walter Simon Oscar Victor Frank Hugo Edward")
FEMALE = words("Mary Anna Julia Laura Helen Susan Alice Emma Clara Nora Ruth Irene Grace Diana Olivia")
SURNAMES = words(
    "Smith Miller Baxter Johnson Carter Hughes Palmer Fletcher Reed Morgan Dalton Foster Bennett Walsh "
    "Porter "
    "Gibson Lambert Novak Ross Quinn Hayes Barnes"
)
TITLES = {"male": ("Mr.", "Dr.", "Sen.", "Prof."), "female": ("Ms.", "Mrs.", "Dr.", "Sen.", "Prof.")}
FIRMS = words(
    "Halden Brixton Norvane Teltrix Ostara Kelmore Davenport Meridian Quantis Lorimar Westbrook Axford"
)
FIRM_SUFFIXES = ("Corp.", "Inc.", "Co.", "Ltd.")
CITIES = (
    ("Boston",), ("London",), ("Paris",), ("Chicago",), ("Vienna",), ("Madrid",), ("Toronto",), ("Denver",),
    ("New", "York"), ("Los", "Angeles"), ("Hong", "Kong"), ("San", "Diego"), ("Oslo",), ("Dublin",),
    ("Geneva",),
)  # fmt: skip
DAYS = words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
MONTHS = words("Jan. Feb. March April May June July Aug. Sept. Oct. Nov. Dec.")
NUMERALS = ("two", "three", "four", "five", "six", "seven", "eight", "ten", "twelve")
WORN = {
    "in": words("shirt coat dress hat scarf uniform helmet"),
    "with": words("hat scarf glove helmet boot shoe"),
}
