"""Sentences that prodex makes deep inside, as templates, so that they can be translated where they are written.

Reasons of findings are made in whole columns, and reasons of answers where they are read; neither knows who will read
them. The English sentence is what they make; here is what it is made of. `prodex.languages.templates` says what each
place holds. `tests/languages` finds sentences that no template matches.
"""

from __future__ import annotations

#: What is wrong, by the rules of `prodex.quality.rules`.
REASONS = (
    "pending: filled as soon as the update is accepted",
    "has a label without code",
    "also {counts}",
    "has the legal form of a company",
    "not eight digits",
    *("no country has a share", "a country has no share", "a share is below 0 or above 100 %"),
    *("not in descending order", "the shares do not add up to 100 %"),
    "the four largest shares are not between 50 and 100 %",
    "not of the form of a uuid",
    "no code of a market",
    "no data; taken for food by {evidence}",
    "{said}; taken for food by {evidence}",
    *(
        "its GS1 class",
        "its nutrients",
        "its alcoholic strength",
        "how it is refrigerated",
        "its ingredients",
    ),
    *("the words of its kind", "its allergens", "the profile's assumption"),
    "{label}: {said}, not listed",
    "a cereal that the ingredients do not name",
    "named in the ingredients",
    *(
        "gluten",
        "crustaceans",
        "eggs",
        "fish",
        "peanuts",
        "soya",
        "milk",
        "nuts",
        "celery",
        "mustard",
        "sesame",
    ),
    *("sulphites", "lupin", "molluscs"),
    "{said} (the language of the text is uncertain)",
    "{said} (the text reads as {language})",
    "{said}; a list waits for acceptance",
    "older than {days} days",
    "later than the moment of the audit",
    "created after its last update, {moment}",
    "ends within {days} days",
    "begins {moment}, ends {then_moment}",
    "ended before the moment of the audit",
    "{kind} without children",
    "the lowest unit is neither a consumer nor a base unit",
    "no quantity of {unit} in {parent}",
    "no whole number of 1 or more: {unit} in {parent}",
    "a unit inside itself: {unit} in {parent}",
    "a pallet that is a consumer unit and no display unit",
    "not 14 digits of which the last is the right check digit",
    "not in this catalogue: {unit} in {parent}",
    "in {count} larger units: {units}",
    "of restricted circulation: begins with {prefix}",
    "eight digits of restricted circulation: begins with {prefix}",
    "{prefix} stands for {evidence}",
    *("reserved for coupons", "examples and demonstrations", "refund receipts", "coupons"),
    "coupons in a common currency",
    "indicator {digit} stands for an outer unit",
    "indicator {digit} stands for a variable measure item",
    "indicator {digit} stands for variable measure",
    "not only digits",
    "{digits} digits instead of 14",
    "only zeros",
    "ends with the check digit {digit}, and {right} would be right",
    "also the GTIN of product {products_named}",
    "also the GTIN of {count} other products, of which the first {most} are {products_named}",
    "holds {parts}",
    *("a nutrition table", "storage instructions or a date", "an address", "a preparation"),
    "{count} of {of} words look misread",
    "more than the gross weight of {figure} g",
    "more than the net weight of {figure} g",
    "the same as the brand",
    "no data; its name says that it lies in a liquid",
    "more than one decimal",
    'a "use by" date, and no storage conditions',
    'no text says "{said}"',
    *("with sweetener(s)", "with sugar(s) and sweetener(s)", "contains a source of phenylalanine"),
    *(
        "with added plant sterols",
        "excessive consumption may produce laxative effects",
        "High caffeine content",
    ),
    'claims "{words}", at most {limit} g of {label} per 100 {unit}; declared: {figure} g',
    'claims "{words}", at most {limit} % of the energy from saturates; declared: {figure} %',
    'claims "{words}", at most {limit} kcal per 100 {unit}; declared: {figure} kcal',
    'claims "{words}", at least {least} g of fibre per 100 g or {limit} g per 100 kcal; declared: {figure} g',
    'claims "{words}", at least {limit} % of the energy from protein; declared: {figure} %',
    'claims "{words}"; the ingredients name "{example}"',
    "{unit} weighs less than what is in it: {figure} g (more than {percent}% below)",
    "{unit} weighs more than what is in it: {figure} g (more than {percent}% above)",
    "{unit} does not fit: {size}",
    "the same as {name}, to which nutrition is declared",
    "net weight {figure} g, more than {percent}% apart",
    "not declared: {labels}",
    *("energy in kJ", "energy in kcal", "fat", "saturates", "carbohydrate", "sugars", "protein", "salt"),
    "per {name}: {said}",
    "neither 100 g nor 100 ml",
    "below zero",
    "over {limit} g per 100 g ({said})",
    "fat, carbohydrate, protein and salt are over {limit} g per 100 g ({said})",
    "over {limit} kJ per 100 g or ml ({said})",
    "not {least} to {most} kJ for each kcal ({said})",
    "fat, carbohydrate and protein give {kj} kJ or {kcal} kcal: more than {percent} % away ({said})",
    "preset: {said}",
    *("Google Merchant Center from 2027", "marketplaces that offer zoom", "many receivers"),
    "as the profile says",
    "saturates, more than the fat of {figure} g",
    "sugars and starch, more than the carbohydrate of {figure} g",
    "{figure} g of salt expected",
    "every nutrient and the energy are 0",
    "{factor} times the {usual} g that are usual for the kind: perhaps {said}",
    *("a decimal point is lost", "two decimal places are lost", "milligrams of sodium as grams of salt"),
    *("milligrams as grams", "a decimal point too many", "grams as hundredths"),
    "grams as kilograms or milligrams",
    "picture {number}: {said}",
    "none of {formats}",
    "the file name has another GTIN",
    "its end date has passed",
    "the same file (crc32) as another picture of the product",
    "not GTIN_type face angle state",
    "marked as packshot, face {face}",
    "not marked as packshot, face {face}",
    "not given as packshot, face {face}",
    "not given",
    "one of {count} packshots of the front",
    "face {face} is stated, and face {other_face} is in the file name",
    *("front", "left", "top", "back", "right", "bottom"),
    "longest side under {pixels} pixels ({said})",
    "width and height are not both given",
    "no rendition of {side} pixels or more",
    "no picture touched for {days} days",
    "refused by the recipient",
    "no validation yet",
    "suggestions are open",
    "the product has a name only in an update that waits for acceptance",
    "an update waits for acceptance",
    "awaits acceptance",
    "filled in {languages} only",
    "the same as in {languages}",
    "names no language that exists",
    "one of several in this language",
    "reads as {language}, {percent}% sure",
    "reads as none of {languages}, {percent}% sure",
    "reads as {languages}",
    "{characters} characters, {allowed} allowed",
    "has fewer than {letters} letters",
    "stands there for its place only",
    "holds HTML",
    "holds a character reference of HTML",
    "a spreadsheet would compute it",
    "holds an address",
    *("ends in dots", "ends within a bracket", "ends in a word that joins", "ends in a comma"),
    "never closed: {text}",
    "is the name again",
    "holds a control character",
    "holds a mark of direction, a zero-width space or a private sign",
    "written as UTF-8 and read as something else",
    "holds a line break",
    "in capitals throughout",
    "has spaces at an end or two in a row",
    "cut at {length} characters, where {count} texts end, and {figure} at each length beside it: a column was too short",
    "cut at {length} bytes, where {count} texts end, and {figure} at each length beside it: a column was too short",
    (
        "cut at {length} characters, where {count} texts of this owner end, and {figure} at each length beside it: a column "
        "was too short"
    ),
    (
        "cut at {length} bytes, where {count} texts of this owner end, and {figure} at each length beside it: a column was "
        "too short"
    ),
)

#: Figures and parts of sentences that are made in several places.
FIGURES = (
    "{figure} %",
    "none",
    "ready {ready}, not ready {not_ready}, undecided {undecided} of {of}",
    *("blocker", "error", "warning", "info"),
)
#: Things that the report counts.
COUNTED = (
    ("{number} check", "{number} checks"),
    ("{number} attribute", "{number} attributes"),
    ("{number} character", "{number} characters"),
)

#: What the report says; each is one text of the page, between two figures or names. See `prodex.display.report`.
REPORT = (
    *("Accepted", "Accepted findings", "Why findings are accepted", "Checks with accepted products"),
    "{number} finding accepted by {names}; with them ready {ready} ({figure} %), score {then_figure} %",
    "{number} findings accepted by {names}; with them ready {ready} ({figure} %), score {then_figure} %",
    (
        "{number} finding accepted by {names} and taken as passed; without them ready {ready} ({figure} %), score "
        "{then_figure} %"
    ),
    (
        "{number} findings accepted by {names} and taken as passed; without them ready {ready} ({figure} %), score "
        "{then_figure} %"
    ),
    "{count} line of {file} cannot be read ({numbers}); prodex.accepted says why",
    "{count} lines of {file} cannot be read ({numbers}); prodex.accepted says why",
    "Why: {count} of {of} reason, the most frequent first",
    "Why: {count} of {of} reasons, the most frequent first",
    *("Reason", "First one ends", "never", "nobody", "Of these accepted", "With accepted", "(accepted:"),
    "With and without: {count} of {of} check with accepted products",
    "With and without: {count} of {of} checks with accepted products",
    (
        "An accepted finding fails still, and is counted in every other figure of this page. It stays accepted until its "
        "value, what it was compared with, or its date changes."
    ),
    *("Completeness", "Family", "Complete", "Missing most", "all products", "not listed", "without family"),
    "A product is complete for a channel if it has all that the requirements say it must have there.",
    "Completeness for {text}",
    ": all products, and the least complete families first, {count} of {of}",
    (
        "The requirements do not list {count} family of {products} product: {names}. They are judged as all families are, "
        "and unknown where nothing is said of these."
    ),
    (
        "The requirements do not list {count} family of {products} products: {names}. They are judged as all families "
        "are, and unknown where nothing is said of these."
    ),
    (
        "The requirements do not list {count} families of {products} products: {names}. They are judged as all families "
        "are, and unknown where nothing is said of these."
    ),
    "Audit of {text}",
    "Skip to the figures",
    "Product data audit",
    "{products} products, {checks} checks of {count} rules",
    "{products} products of {every} that were chosen, {checks} checks of {count} rules",
    *(
        "Warnings",
        "Not requested",
        "Sections",
        "Requested",
        "Received",
        "From",
        "Query",
        "Snapshot",
        "By",
        "in memory",
    ),
    "nothing was left out: data that are missing here are missing in the record",
    "Print everything: also checks, findings and product cards. Otherwise only the summary is printed.",
    "everything in the files or records",
    "none: {count} attributes in the columns of a file",
    "{moment} UTC",
    "{text}, complete",
    "{text}, incomplete",
    "profile {profile}, {checks} checks, rule set {rule_set}",
    "All {products} products.",
    "{products} of {every} products, chosen by: {conditions}.",
    "{products} of {every} products.",
    "Only these attributes were requested: {text}.",
    "These attributes were left out: {text}.",
    "Only texts in these languages were requested: {text}.",
    "Only these attributes are in the columns of the file: {text}.",
    "Of these attributes not every value could be read: {text}.",
    "Not asked, since the profile does not say where the catalogue has it: {labels}.",
    "Therefore unknown for every product: {text}.",
    "Unknown for every product: {text}.",
    *("Figures", "Unusual", "Grades", "Gaps", "Heat map", "Worst offenders", "Checks", "Failing products"),
    *(
        "Product cards",
        "Notes",
        "Key figures",
        "What is unusual",
        "Grades over time",
        "Largest gaps",
        "Scores by block",
    ),
    *("Ready", "Mean score", "Products to work on", "Products not ready", "Not ready", "Undecided"),
    "all checks together: {figure} %, grade {grade}",
    "all checks together: none, grade none",
    "of {products} products",
    "of {products} product",
    "a blocker fails; of {products} products",
    "a blocker fails; of {products} product",
    "{figure} % of all {products} products",
    "{count} of all {products} products",
    "since {day}",
    *(
        "Laws",
        "as of {day}",
        "Law:",
        ", from {day} on",
        "from {day} on",
        "until {day}",
        "{said} (from {day} on)",
    ),
    *("(better)", "(worse)", "no change", "nothing to compare"),
    "▲ {figure} points higher",
    "▼ {figure} points lower",
    "▲ {count} more",
    "▼ {count} fewer",
    "Chart of grades",
    "A from 90 %, B from 80 %, C from 70 %, D from 60 %, E below: the share of each product's checks that pass, by weight.",
    (
        "A from 90 %, B from 80 %, C from 70 %, D from 60 %, E below: the share of each product's checks that pass, by weight. "
        "A product with a failing blocker has {grade} at best."
    ),
    "Grades of each audit",
    "{count} audits, the newest last",
    "1 audit, the newest last",
    "As of",
    "{profile}, rules {rule_set}",
    "(another measure, not in the chart)",
    "{count} ({figure} %)",
    "{good} of {products} products have grade A or B",
    "{figure} % of {products} products have grade A or B",
    "{figure} % of {products} products have grade A or B ({grades}). It is the only audit: there is no trend yet.",
    (
        "{figure} % of {products} products have grade A or B ({grades}). It is the only audit of this measure: there is no "
        "trend yet."
    ),
    "Stacked bars of grades for each audit. The last one: {grades}. The table below has all of them.",
    "{count} of {of} problems, the most helpful one to fix first.",
    "of {of} products fail",
    "If fixed:",
    "ready {figure} → {then_figure} % ({steps} points)",
    "ready {steps} product",
    "ready {steps} products",
    "score {steps} points",
    "score under +0.01 points",
    "nothing in ready or score",
    "{figure} % as before",
    "No check fails.",
    *(
        "Rows",
        "Who",
        "all",
        "Block",
        "Weight",
        "Failing",
        "Of",
        "Not applicable",
        "Unknown",
        "Pass",
        "Share",
        "Readiness",
    ),
    *(
        "Failing checks",
        "Score",
        "Grade",
        "Most frequent problem",
        "Owner",
        "Brand",
        "Kind",
        "Reason",
        "Update",
    ),
    *(
        "identity",
        "texts",
        "food",
        "pictures",
        "hierarchies",
        "freshness",
        "below",
        "crashed",
        "yes",
        "no",
        "undecided",
    ),
    "Shade by score:",
    "from {figure} %",
    "Scores by {by} and block",
    "Score by {by} and block, the worst {by} first: {count} of {of}",
    "Score by {by} and block, the worst {by} first, those of under {least} products below: {count} of {of}",
    "{count} failing",
    (
        "A dash: no check of the block applies, or none with a weight. Scores are weighted, and info checks weigh nothing; "
        '"failing" counts failing checks of products, so a product can count more than once. n: so few products that the '
        "score means little."
    ),
    "Worst offenders by {by}",
    "Most failing checks first: {count} of {of} owners with any",
    "Most failing checks first: {count} of {of} brands with any",
    "Most failing checks first: {count} of {of} kinds with any",
    "Most failing checks first, owners of under {least} products below: {count} of {of} owners with any",
    "Most failing checks first, brands of under {least} products below: {count} of {of} brands with any",
    "Most failing checks first, kinds of under {least} products below: {count} of {of} kinds with any",
    "{count} of {of}",
    "{said} ({count})",
    "All checks",
    "{count} checks of {of} rules, those that fail first; a check is a rule with its parameters",
    *("What should be true:", "To fix:", "For:", "Source:", "every product", "every product."),
    "{text}. This check can be wrong.",
    "every product. This check can be wrong.",
    "{count} of {of} findings",
    (
        "are on this page. A finding is one text, picture or other place for which a product fails a check; they make {count} "
        "failing checks of products."
    ),
    (
        "are on this page. A finding is one text, picture or other place for which a product fails a check; they make {count} "
        "failing checks of products. The files beside it contain everything:"
    ),
    (
        "are on this page. A finding is one text, picture or other place for which a product fails a check; they make 1 "
        "failing check of products. The files beside it contain everything:"
    ),
    *("all products with score and grade", "all checks with their counts", "all findings"),
    "{said}, {count} rows:",
    (
        "In CSV, a text that a spreadsheet would run as a formula has an apostrophe before it; in Parquet every text is "
        "unchanged."
    ),
    "{products} products fail: {count} of {of} findings",
    "1 product fails: {count} of {of} findings",
    "Findings of {check}",
    "{count} of {of} findings of {check}",
    *("nothing", "no name", "without a name", "None.", "Texts", "Pictures", "No product fails a check."),
    "{count} of {of} products that fail a check: the ones furthest from ready. Pictures are described, never loaded.",
    (
        "{count} of {of} products that fail a check: the ones furthest from ready. The catalogue was not available, so texts "
        "and pictures are not shown. Pictures are described, never loaded."
    ),
    "{figure} %, grade {grade}",
    "none, grade none",
    "pending acceptance, not shown here",
    "Texts of product {number}",
    "Pictures of product {number}",
    "{count} of {of} texts",
    "{count} of {of} pictures",
    *("file", "size", "format", "face", "valid from", "valid until", "packshot"),
    "{characters} characters",
    "{count} of {of} characters",
    "({count} of {of} characters)",
    (
        "This is the summary. {checks} checks, {count} of {of} findings and {number} product cards are on the page, and of "
        'heat maps all rows; "Print everything" there prints them as well.'
    ),
    (
        "score = weight of checks passed / weight of checks passed or failed; ready = no blocker fails, and none is unknown. "
        "Rule set {rule_set}. Completeness is not accuracy: a text that is there can still be wrong."
    ),
    (
        "score = weight of checks passed / weight of checks passed or failed; ready = no blocker fails, and none is unknown. A "
        "product with a failing blocker has grade {grade} at best. Rule set {rule_set}. Completeness is not accuracy: a text "
        "that is there can still be wrong."
    ),
    (
        '{products} products judged without an update pending acceptance. To judge what will be after it: "Include pending '
        'updates", --pending, or prodex.audit(prodex.with_pending_updates(catalog)).'
    ),
    (
        '1 product judged without an update pending acceptance. To judge what will be after it: "Include pending updates", '
        "--pending, or prodex.audit(prodex.with_pending_updates(catalog))."
    ),
    "Assumed where the data do not decide: {text}.",
    (
        "A result is pass, fail, not applicable (the check does not apply to this product) or unknown (its data were not "
        "requested, nothing decides whether it applies, or the rule crashed). Missing means absent, null or empty; data that "
        "were not requested never count as missing."
    ),
    "How to read this",
    "{count} of {of} results are unknown: {text}",
    "{products} undecided: their data do not show whether they are ready",
    "no market is known for {products} products: checks for a market cannot judge them",
    "{count} crashes: these checks are unknown there, and never a pass",
    *("Crashed rules", "What happened", "Part"),
)
