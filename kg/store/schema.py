"""The layout of a snapshot file. It is plain SQL, for users who read it with other tools."""

APPLICATION_ID = 0x4B475331  # "KGS1", in the header of the file, by which it is recognised before it is opened
SCHEMA_VERSION = 1  # raised when a reader of the version before would misread a file

DEPRECATED, NORMAL, PREFERRED = range(3)  # `rank > 0` is what is not known to be wrong
SOMEVALUE, NOVALUE, ENTITY, OTHER_ENTITY, TIME, QUANTITY, STRING, MONOLINGUAL, OTHER = range(9)
LABEL, ALIAS, DESCRIPTION = range(3)

# The names of these codes, in their order.
RANKS = ("deprecated", "normal", "preferred")
TYPES = ("somevalue", "novalue", "entity", "other entity", "time", "quantity", "text", "monolingual text", "other")
KINDS = ("label", "alias", "description")

# Datatypes that are stored as a number; any other is stored as its name.
DATATYPES: tuple[str, ...] = (
    "wikibase-item",
    "wikibase-property",
    "string",
    "external-id",
    "time",
    "quantity",
    "monolingualtext",
    "url",
    "commonsMedia",
    "globe-coordinate",
    "geo-shape",
    "tabular-data",
    "math",
    "musical-notation",
    "wikibase-lexeme",
    "wikibase-form",
    "wikibase-sense",
    "entity-schema",
)

TABLES = """
-- Ids are integers: item Q42 is 42, property P31 is -31. In the columns named `property` P31 is 31.

-- What the snapshot was made from and how. Without the row snapshot_id the file is unfinished.
CREATE TABLE manifest (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL             -- JSON
) WITHOUT ROWID;

-- What the numbers in the columns rank, type, kind and datatype mean.
CREATE TABLE code (
    domain TEXT NOT NULL,           -- 'rank', 'type', 'kind' or 'datatype'
    code INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (domain, code)
) WITHOUT ROWID;

CREATE TABLE entity (
    id INTEGER PRIMARY KEY,
    sitelinks INTEGER NOT NULL,     -- how many
    datatype TEXT                   -- of a property; NULL for items
);

-- Labels, aliases and descriptions as they are written at the source.
CREATE TABLE term (
    entity INTEGER NOT NULL,
    language TEXT NOT NULL,         -- language code of the source, 'mul' for all languages
    kind INTEGER NOT NULL,          -- 0 label, 1 alias, 2 description
    ordinal INTEGER NOT NULL,       -- place among aliases, from 0
    text TEXT NOT NULL,
    PRIMARY KEY (entity, language, kind, ordinal)
) WITHOUT ROWID;

-- Labels and aliases by their normalised form (kg.base.model.normalise), for looking names up.
CREATE TABLE name (
    key TEXT NOT NULL,              -- normalised
    language TEXT NOT NULL,
    kind INTEGER NOT NULL,          -- 0 label, 1 alias
    entity INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,       -- with entity, language and kind: the row of term
    PRIMARY KEY (key, language, kind, entity, ordinal)
) WITHOUT ROWID;

CREATE TABLE statement (
    subject INTEGER NOT NULL,
    property INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,       -- place among the subject's statements of the property, from 0
    rank INTEGER NOT NULL,          -- 2 preferred, 1 normal, 0 deprecated
    type INTEGER NOT NULL,          -- what value holds:
    -- 0 somevalue, 1 novalue: NULL
    -- 2 item or property: its integer id          3 other entity: its id as text
    -- 4 time: JSON [year, month, day, precision], month or day 0 where not given; a fifth element, 1, for the
    --   Julian calendar
    -- 5 quantity: JSON [amount], then the unit's id or null, then lower and upper bound; decimals as text
    -- 6 text                                      7 text in a language: JSON [text, language]
    -- 8 anything else: JSON [type, value as JSON text]
    value,
    qualifiers TEXT,                -- JSON [[property, type, value], ...] in source order; NULL for none
    -- 16 bytes: the UUID that follows the subject and '$', in capitals. Text that begins with '$': what
    -- follows the subject. Text that begins with '=': the id is what follows. Other text: the id.
    id,
    datatype,                       -- number, or name where it has none; NULL where the source gives none
    PRIMARY KEY (subject, property, ordinal)
) WITHOUT ROWID;

-- Ids that were merged into another.
CREATE TABLE redirect (
    source INTEGER PRIMARY KEY,
    target INTEGER NOT NULL
);

-- How many entities of the whole source, selected or not, carry a value: statements that are not deprecated,
-- targets that are in the snapshot.
CREATE TABLE value_count (
    property INTEGER NOT NULL,
    target INTEGER NOT NULL,
    entities INTEGER NOT NULL,
    PRIMARY KEY (property, target)
) WITHOUT ROWID;

-- How many entities of the whole source carry the property: not deprecated, novalue does not count.
CREATE TABLE property_count (
    property INTEGER PRIMARY KEY,
    entities INTEGER NOT NULL
);
"""

# Made once the rows are in: building it sorted is several times faster than keeping it up to date.
INDEX = "CREATE INDEX statement_target ON statement (property, value) WHERE type = 2 AND rank > 0"

# Rows of `name` with the text as it is written.
WITH_TERM = "JOIN term USING (entity, language, kind, ordinal)"

CODES: tuple[tuple[str, int, str], ...] = tuple(
    (domain, code, name)
    for domain, names in (("rank", RANKS), ("type", TYPES), ("kind", KINDS), ("datatype", DATATYPES))
    for code, name in enumerate(names)
)
