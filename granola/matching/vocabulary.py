"""The closed lists that the rules read words with: function words, place types, qualifiers, titles."""

from __future__ import annotations


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that carry no claim of their own; folded forms.
FUNCTION = _set(
    "a an the of in on at by to for from with as and or but is are was were be been being it its he she "
    "they his her their this that these those who whom whose which what where when why how there here i "
    "we you my our your do does did has have had not no yes so if then than also very just only both into "
    "over under between during while located situated based born died named called known answer answers "
    "would could may might must can will shall probably possibly perhaps maybe likely definitely "
    "certainly think believe guess about around approximately every"
)
# With these, all words that a short name (US, ME, HI, Us) may be mistaken for.
ORDINARY = FUNCTION | _set(
    "me us him them hi hey oh ok okay am were any all one two man pa ma la go up out off now per"
)
# What a sentence may put between a name and the larger thing that holds it: "Lyon, a city in the south of".
BRIDGE = _set(
    "a an the of in on at within is are was were which who that it located situated lies found near city "
    "town village municipality capital suburb district area region part one big small large largest north "
    "south east west northern southern eastern western northeast northwest southeast southwest northeastern "
    "northwestern southeastern southwestern central"
)
NEGATIONS = _set(
    "not never no neither nor isnt wasnt arent werent didnt dont doesnt cannot without except unlike hardly"
)
NEGATION_PHRASES = (
    ("rather", "than"),
    ("instead", "of"),
    ("other", "than"),
    ("apart", "from"),
    ("false", "that"),
    ("untrue", "that"),
    ("refused", "to"),
    ("wanted", "to"),
    ("failed", "to"),
    ("anything", "but"),
)
# What others are said to think is not claimed.
HEARSAY = (
    ("some", "sources"), ("other", "sources"), ("some", "say"), ("others", "say"),
    ("some", "claim"), ("others", "claim"), ("some", "believe"), ("others", "believe"),
    ("some", "accounts"), ("other", "accounts"),
)  # fmt: skip
AFFIRMATIONS = (("not", "only"), ("no", "doubt"), ("not", "until"), ("not", "just"))
CLAUSE_WORDS = _set("but however although though instead yet because while whereas")
NEARBY = (
    ("near",),
    ("outside",),
    ("close", "to"),
    ("far", "from"),
    ("surrounded", "by"),
    ("suburb", "of"),
    ("outskirts", "of"),
    ("miles", "from"),
    ("km", "from"),
    ("kilometers", "from"),
    ("north", "of"),
    ("south", "of"),
    ("east", "of"),
    ("west", "of"),
)

# One more or one less of these makes another thing: New York, South Korea, Lake Victoria, Upper Austria.
_QUALIFIERS = _set(
    "new old "
    "upper lower inner outer middle greater lesser great little saint sainte san santa "
    "los las el la le les fort port mount lake gulf cape equatorial democratic vice deputy former ex non "
    "anti junior senior jr sr ii iii iv"
)
# A part of a place: northern India is in India. Not so with the bare points, which name other places (South
# Korea, West Virginia), but for those of the continents here.
DIRECTIONS = _set(
    "northern southern eastern western northeastern northwestern southeastern southwestern central mainland "
    "northeast northwest southeast southwest"
)
POINTS = _set("north south east west northeast northwest southeast southwest")
PARTED_BY_POINTS = {"asia": POINTS, "europe": POINTS, "africa": POINTS - {"south"}}
# With a bare point before it each of these is another place, even where a writer puts the point in small letters.
PARTED_BY_NAME = _set(
    "korea carolina dakota virginia sudan africa yemen vietnam germany berlin ossetia macedonia timor pakistan bengal"
)
# Names that begin like a part and are none.
NO_PARTS = frozenset(
    {
        ("northern", "ireland"), ("northern", "cyprus"), ("northern", "mariana"), ("northern", "rhodesia"),
        ("southern", "rhodesia"), ("western", "sahara"), ("central", "african"),
    }
)  # fmt: skip
QUALIFIERS = _QUALIFIERS | DIRECTIONS | POINTS
# Said or not, these name the same place: Kunming = Kunming City, Oldham = Metropolitan Borough of Oldham.
PLACE_TYPES = _set(
    "city town village municipality metropolitan borough province state prefecture region republic "
    "kingdom oblast voivodeship governorate canton commune country of"
)
# Behind a name, or before it with "of", each tells another place than the town of that name.
DIVISION_TYPES = _set("state province county prefecture governorate oblast voivodeship canton")
_TOWN_TYPES = _set("city town village municipality metropolitan borough commune")
# Before a name these address its bearer; they are no part of it.
TITLES = _set(
    "mr mrs ms miss dr doctor prof professor sir dame lord lady king queen prince princess emperor "
    "empress tsar pope president chancellor senator governor general colonel captain king's minister pres gen sen rep "
    "gov capt col lt sgt rev hon chairman justice coach sergeant lieutenant major admiral"
)
SUFFIXES = _set("jr sr junior senior ii iii iv")
ROYAL = _set("king queen prince princess emperor empress tsar tsarina czar pope saint sultan duke duchess saints")
ARTICLES_OF_NAMES = _set("los las el le les")
# Legal forms behind a company's name.
LEGAL_FORMS = _set("inc ltd limited llc corp corporation company co plc gmbh ag sa nv llp lp group records")
SPECIFICALLY = _set(
    "specifically namely precisely particularly exactly probably possibly perhaps likely maybe presumably"
)
KINDS = PLACE_TYPES | LEGAL_FORMS  # said or not, the name stays the same


def kinds_differ(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether one name says that it is a town and the other a division."""
    return any(
        not one.isdisjoint(a) and not other.isdisjoint(b) and one.isdisjoint(b) and other.isdisjoint(a)
        for a, b in ((DIVISION_TYPES, _TOWN_TYPES), (_TOWN_TYPES, DIVISION_TYPES))
    )


# Words that say what kind of thing a name names: alone they name none (University for Harvard University).
CLASSES = KINDS | _set(
    "language languages dialect university college school academy institute institution conservatory "
    "county state states island islands river lake mountain mountains sea ocean bay valley desert hills "
    "park street road avenue square bridge station airport church cathedral abbey museum gallery theatre "
    "theater hospital library stadium arena tower castle palace hall house building center centre territory "
    "empire nation nations union federation parish department division community township "
    "music genre rock pop jazz metal label studio studios pictures entertainment productions films press "
    "publishing publishers newspaper magazine journal network channel radio television organization "
    "organisation agency ministry committee council commission association society foundation "
    "bank airlines airways railway army navy force forces police party league club team band orchestra "
    "ensemble choir quartet trio duo religion war wars battle award awards prize medal cup championship "
    "championships games tournament series season episode show program programme film movie album song single "
    "book novel play opera ballet symphony concerto poem story painting character person people man woman men "
    "women human singer actor actress author writer poet composer musician politician footballer player "
    "engineer scientist artist painter lawyer judge director producer journalist sport sports software game "
    "family species animal plant century automobiles holdings industries"
)
# Of those, what is a family name as well.
FAMILY_NAMES = _set("king park hall house castle church palace singer painter street field judge person story tower")
# Kinds that bear the names of smaller or larger things: Lancaster County is not Lancaster.
PLACE_CLASSES = KINDS | _set(
    "county state states island islands lake mountain mountains park street road avenue square station airport "
    "territory parish department district division community township university college school academy institute "
    "hospital"
)
INDEFINITE = frozenset({"a", "an"})
# What stands uncapitalised inside a personal name: Ludwig van Beethoven.
PARTICLES = _set("de da do dos das di del della der den des du d el al bin ibn ben von van vom zu zur af av la le y e")
NO_CLAIM = FUNCTION | TITLES | KINDS | _set("somewhere someplace")
DEMONYM_ENDINGS = ("ian", "ican", "man", "ean", "ish", "ese", "ench", "utch", "reek", "swiss", "elsh")

# What lies around a place and is more than it: the Chicago area.
AROUND = _set("area metropolitan metro suburbs suburb outskirts vicinity conurbation agglomeration")
# Regions that are called so beside their names; those of divisions.py are known anyway.
REGIONS = (
    "Alsace", "Aquitaine", "Auvergne", "Burgundy", "Champagne", "Languedoc", "Lorraine", "Picardy", "Provence", "Savoy",
    "Flanders", "Wallonia", "Silesia", "Galicia", "Moravia", "Bohemia", "Transylvania", "Swabia", "Franconia",
    "Westphalia", "Pomerania", "Tyrol", "Algarve", "Alentejo", "Crimea", "Kurdistan", "Kashmir", "Punjab", "Bengal",
    "Sindh", "Balochistan", "Siberia", "Patagonia", "Sahel", "Midlands", "East Anglia", "Ruhr", "Île-de-France",
    "Normandy", "Brittany", "Occitanie", "Grand Est", "Catalonia", "Andalusia", "Aragon", "Asturias", "Navarre",
    "Extremadura",
)  # fmt: skip
# Words that join the parts of a place's name: Kingston upon Thames, Frankfurt an der Oder, Santiago de Compostela.
JOINTS = _set("upon am der aan den ob bei unter sur sous les le la de del della do da dos das di du des y en under by")
SETTLEMENTS = _set(
    "city town village hamlet suburb district neighborhood neighbourhood commune municipality borough settlement"
)
BEFORE_PLACES = _set(
    "of in state province region county department prefecture canton small little large big old capital coastal "
    "port northern southern eastern western central historic ancient"
)
# What only larger things, gone ones and times are called.
GONE = _set(
    "empire union kingdom republic confederation federation commonwealth states dynasty caliphate sultanate ussr "
    "yugoslavia czechoslovakia prussia gaul mesopotamia world war ages age era period renaissance olympics south "
    "north east west hemisphere ocean sea middle"
)
# A faith, the same for those who hold it.
FAITHS = {
    word: line.split()[0]
    for line in (
        "hinduism hindu", "buddhism buddhist", "christianity christian", "islam muslim islamic moslem",
        "judaism jewish",
        "catholicism catholic", "protestantism protestant", "sikhism sikh", "jainism jain", "taoism taoist daoism",
        "shinto shintoism", "confucianism confucian", "mormonism mormon", "lutheranism lutheran",
        "anglicanism anglican", "atheism atheist", "calvinism calvinist", "zoroastrianism zoroastrian",
    )
    for word in line.split()
}  # fmt: skip
# What a place has, whatever its capitals: the East Coast of the United States.
PARTS = _set("coast part parts half side corner interior heart region area north south east west midwest")
MAYBE = _set("possibly perhaps maybe")
CONTINENTS = _set("africa america americas antarctica asia europe oceania eurasia earth")
MONTHS = _set(
    "january february march april may june july august september october november december jan feb mar apr jun "
    "jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter"
)
ROMAN = _set("ii iii iv v vi vii viii ix x")
# What may stand between a description and the name it introduces.
NAMED = _set("named called namely")
# People told by their relation to another one.
RELATIVES = _set(
    "father mother parent parents wife husband spouse widow widower son daughter child children brother sister "
    "sibling siblings uncle aunt nephew niece cousin grandfather grandmother grandson granddaughter stepfather "
    "stepmother friend girlfriend boyfriend partner teacher student pupil disciple mentor successor predecessor "
    "assistant colleague rival competitor"
)
# People told by an office under or beside another one.
OFFICES = _set(
    "president minister secretary deputy vice aide adviser advisor bodyguard chancellor treasurer manager agent lawyer "
    "doctor physician biographer editor producer drummer guitarist bassist driver bandmate teammate opponent running "
    "chief general heir valet butler nurse maid mistress lover fiance fiancee lieutenant predecessor captain killer"
)
# An answer may begin with these and has no subject yet.
OPENING = _set("a an the it this that was is by answer i think believe probably perhaps maybe")
# What a person is described as; enough of it to tell ladders of persons from others.
OCCUPATIONS = _set(
    "person man woman human singer actor actress author writer poet composer musician politician "
    "footballer player engineer scientist artist painter lawyer judge director producer journalist "
    "athlete guitarist pianist conductor novelist monarch philosopher physicist rapper songwriter "
    "filmmaker screenwriter photographer architect "
)
# Kinds of music that a word before them makes into narrower kinds: hard rock, cool jazz.
GENRES = _set("rock jazz metal pop punk blues folk soul funk rap techno house disco reggae")
# What may stand before a kind and makes no other of it.
SAME_KIND = _set(
    "professional amateur women womens men mens youth international modern contemporary popular famous great good "
    "early late live loud fast slow traditional classic known own local national serious mainstream pure real original"
)
# What may stand before a gold answer and is no part of it: "in the Gospel of Luke".
LEADING = _set(
    "in on at by from of to during about around with for into near since until through via as because "
    "before after approximately roughly circa being it is was are were they he she "
)
