"""Sentences that prodex makes deep inside, as templates, so that they can be translated where they are written.

Reasons of findings are made in whole columns, and reasons of answers where they are read; neither knows who will read
them. The English sentence is what they make; here is what it is made of. `prodex.languages.templates` says what each
place holds. `tests/languages` finds sentences that no template matches.
"""

from __future__ import annotations

#: How to answer, by `prodex.worklists.answer_fields`.
HOW = (
    "true or false",
    "A whole number",
    "A number, such as 12.5",
    "A text",
    "A code, or its label",
    "A number and its unit: 500 g",
    (
        "The address of the picture: https://... Where a product has several, name the one it replaces: old file name -> "
        "https://...; old file name -> (delete) removes one."
    ),
    (
        "The basis, then the nutrients to correct, each with its unit: per 100 g: Fat 3.2 g; Salt 0.5 g; Energy 844 kJ / "
        "202 kcal. Others stay as they are."
    ),
    (
        "One line for each correction, the GTIN of the unit first: 34142363314282: gross weight 1.4 kg; 34142363314282: "
        "8 x 04142363314281; 34142363314282: orderable unit true. 0 x GTIN takes a unit out."
    ),
    "Not here: correct it at its source",
    "An update of {update} waits for acceptance; nothing to answer.",
    "The language, then the text: fr: Confiture",
    "A text in {language}",
    "{how}, in place of: {text}",
    "Picture: {label}",
    # Headings of what was accepted, and until when.
    *("Accept because", "Accepted", "Accepted findings", "First seen"),
    "(delete)",
)

#: Why an answer was not taken or needs confirmation, by `prodex.worklists`; it goes out again to whoever gave it.
OUTCOMES = (
    "“{answer}” needs confirmation: {said}",
    "“{answer}” was not taken: {said}",
    '{said} It was typed over "Value seen": write it into "New value".',
    "{said} It is written for several rows in {place}.",
    "Correction to look at",
    "Answer that may not be meant",
    "Answer that could not be used",
    "the new value",
    "an answer that can be used, in place of {place}",
    "Send it back as it is, or change it.",
    "Read what is wrong, and answer again.",
    "{text} is neither yes nor no. Write true or false.",
    "{text} is the label of {count} codes: {codes}. Write the code.",
    "{text} is not a code. The sheet Codes lists those in use.",
    "{text} is not a code; did you mean {near}?",
    "{text} has {digits} digits; a number has at most {most}.",
    *(
        f"{{text}} {why}{ending}"
        for why in (
            "is not exact. Write the number itself",
            "is a fraction. Write it with decimals, such as 0.5",
            "is a multiplication. Write its result",
            "is a range. Write one number",
            "has an exponent. Write all digits",
            "is not an amount. Write digits, such as 12.5",
            "has other digits than 0 to 9. Write these",
        )
        for ending in (".", ", and its unit.")
    ),
    "{text} is not one number. Write digits, such as 12.5.",
    "{text} is not a number. Write digits, such as 12.5.",
    "{text} is not a number with its unit. Write both, such as 500 g.",
    "{text} has more than one number. Write one amount, such as 500 g.",
    "{text} may be {small} or {large}. Write {large} without a mark, or {longer} with one more digit.",
    "{text} is not a whole number.",
    "{text} may be {meanings}. Write the code behind the number: {examples}.",
    "{text} is not a known unit. Write g, kg, ml, l, cm or a code such as GRM.",
    "{text} is not a known unit; did you mean {near}?",
    "{text} is not a known nutrient. Write its code, such as FAT, or its name.",
    "{text} is not a known nutrient; did you mean {near}?",
    "{text} is not a nutrient with its quantity. Write it so: Fat 3.2 g.",
    "{text} names no nutrient. {how}",
    "there are {count} tables ({tables}) of nutrients, so the basis is needed. Begin with it: per 100 g:",
    "the only table is {table} of nutrients, so the basis is needed. Begin with it: per 100 g:",
    "there is no table of nutrients, so the basis is needed. Begin with it: per 100 g:",
    "{said} The basis is an amount of food, such as per 100 g:",
    "the product has nutrition of another form. Correct it at its source.",
    "the product has hierarchies of another form. Correct it at its source.",
    "the product has pictures of another form. Correct it at its source.",
    "the product has assets of another form. Correct it at its source.",
    "the product has {path} of another form. Correct it at its source.",
    "the answer has {text} and {other}. Write one of them.",
    "the answer is empty. {how}",
    "no unit of the hierarchies has the GTIN {unit}; give one of {units}.",
    "no unit of the hierarchies has the GTIN {unit}.",
    "{text} does not begin with the GTIN of a unit and a colon. {how}",
    "{text} is not a whole number of units. Write digits, such as 8.",
    "{text} is not a field with its value; did you mean {near}?",
    "{text} is not a field with its value. Give one of {labels}.",
    "{text} has several arrows. {how}",
    "{text} does not say which picture to remove. {how}",
    "{text} is not an address of a picture. Write it whole: https://...",
    "no pictures of the product are called {name}; give one of {names}. {how}",
    "no pictures of the product are called {name}. {how}",
    "{count} pictures of the product are called {name}; give one of {names}. {how}",
    "no pictures of the product have {path} {text}, so it is not certain which one to replace; give one of {names}. {how}",
    (
        "{count} pictures of the product have {path} {text}, so it is not certain which one to replace; give one of {names}. "
        "{how}"
    ),
    "the product has {code} already.",
    "the product has {code} already. Write {code_before} -> (delete) to remove that.",
    "the product has no {path} yet. Write what it is to be, without an arrow.",
    "{path} takes one value, and these are {count}.",
    "{path} takes one value, and {text} are {count}.",
    "the answer replaces one item twice. Write what it is to be once.",
    "another answer changes {text} too. Keep one of them.",
    *(
        f"the product has several values of {{path}}: {{values}}, {why}. Write which one: {{example}}{ending}"
        for why in (
            "and it is not certain which of them is meant",
            "and not every part of the answer says which of them it replaces",
            "and none of them is {text}",
            "and none of them is {text}, which the worklist showed",
            "and {count} of them are {text}",
            "and the answer does not have all of them",
        )
        for ending in (".", "; or write all of them, with semicolons between.")
    ),
    "{text} has several arrows. Write each of them on a line of its own.",
    "{text} begins with (delete). Write what is there first: old -> new.",
    "With this answer, a check would find something that it does not find now: {said} ({why}). Is it meant?",
    "With this answer, a check would find something that it does not find now: {said}. Is it meant?",
    "another answer to the same says something else: {answers}. Keep one of them.",
    "the check {check} would still fail: {said}.",
    "the check {check} would still fail.",
    (
        'It was typed over "Value seen", and "New value" is empty. Is it the new value? If so, write it into "New value", '
        "or confirm it."
    ),
    *(
        f"the product was changed{when}, after the worklist was written: there is now {there}{instead}. Answer the next "
        "worklist, which shows it."
        for when in (" at {moment}", "")
        for there in ("nothing", "something else", "{text}")
        for instead in (" in place of {seen}", "")
    ),
    *(
        f"the value that was seen was typed over: there is now {there} in place of {{seen}}, which the worklist did not "
        "show. Take the row from the worklist again."
        for there in ("nothing", "something else", "{text}")
    ),
    "an update of {update} waits for acceptance and may change it again. Answer after that.",
    "the product has this value already.",
    "the same answer as {place}.",
    "{text} reads like {said}. Is it the value of {path}?",
    "{text} reads like {other}, written in UTF-8 and read in another encoding. Is it the value of {path}?",
    "{text} reads like a text, written in UTF-8 and read in another encoding. Is it the value of {path}?",
    "a remark that something is done or agreed",
    "a mark for “the same as above”",
    "a remark that the field does not apply",
    "a hint to look somewhere else",
    "a remark that the value is not known yet",
    "a remark that nothing is to be changed",
    "a request to delete the value, for which the answer is (delete)",
    "a refusal",
    "a question or a request",
    "a mark, and no text",
    *(
        f"{{code}} is a code of {{path}} that no product of the catalogue and no list has{like}{near}. Is it meant?"
        for like in ("", ", and it reads like {said}")
        for near in ("", "; the nearest: {codes}")
    ),
    "The cell holds {said}, and a spreadsheet may have changed what was typed. Was {other} typed?",
    (
        "the cell holds {said}, and a spreadsheet may have changed what was typed, such as zeros in front. Format the cell "
        "as text, and type it again."
    ),
    (
        "the cell holds {said}, and a spreadsheet may have changed what was typed, such as zeros in front. It may be "
        "{values}. Format the cell as text, and type it again."
    ),
    (
        "the cell holds {said}, which {path} does not take: a spreadsheet has changed what was typed. Format the cell as "
        "text, and type it again."
    ),
    (
        "the column Position has {text}, which a spreadsheet may have changed: it is not certain which text of {path} is "
        "meant. Take the row from the worklist again."
    ),
    "no product of the catalogue has the GTIN {code}: it is gone, or mistyped.",
    "product {code} is gone: the catalogue does not have it (any more).",
    "product {code} is gone.",
    "{count} products have the GTIN {code}. Fill in the column Product to say which.",
    "the row has neither a product nor a GTIN. Fill in the GTIN.",
    "{text} is not a GTIN. Give it as text of 14 digits.",
    (
        "{text} is a GTIN in scientific notation, which has lost its last digits. Format the column as text, and write all "
        "digits."
    ),
    "{text} is a date. Format the column as text, and write the GTIN.",
    "{text} is a number with decimals. Format the column as text, and write the GTIN.",
    "{text} has {digits} digits; a GTIN has 8, 12, 13 or 14.",
    "{text} is only zeros, which is not a GTIN.",
    "{text} ends with the check digit {digit}, and {right} would be right.",
    "{text} is not a GTIN. Give it as text of 14 digits.",
    "{code} may be each of the products {products_named}: a spreadsheet drops zeros at the beginning. Fill in the GTIN.",
    "a spreadsheet rounded the product id to {code}. Fill in the GTIN.",
    (
        "the row has product {code} and the GTIN {gtin}, which is that of product {other}: the cells of its row were mixed "
        "up. Take the row from the worklist again."
    ),
    "the row has no field. Fill in the column Field, such as namePublicLong.",
    "{path} cannot be answered in a cell. It is corrected at its source.",
    "{path} cannot be answered in a cell; did you mean {near}?",
    "{text} is not a value. Leave the cell empty, or write the value.",
    "the answer has half of a character ({text}), which cannot be sent. Type it again.",
    "the product has something else in place of {seen}, which the worklist showed: {said}",
    (
        "the product has {count} texts of {path} in {language}, and the row does not say which is meant. Take the row from "
        "the worklist again, with its hidden columns; or write the text that is there into the column Value seen."
    ),
    (
        "the row has no language. Write it before the text, such as fr: Confiture de fraises, or fill in the column "
        "Language."
    ),
    "There is no language {text}. Give a tag such as fr-FR or a name such as French.",
    "There is no language {text}. Did you mean {near}? Give a tag such as fr-FR or a name such as French.",
    "{text} may be {values}: the word means both in different languages. Write which one.",
    "the product belongs to {owner}, and only answers about products of {owners} are read.",
    "It is in the hidden sheet {name} and about a product of {owner}. Is it meant?",
    (
        "The hidden sheet of the workbook was edited, so it no longer says for whom it was written. The answer is about a "
        "product of {owner}. Is it meant?"
    ),
    (
        "The worklist was written for products of {name}, and the catalogue is of {other}. The answer is about a product of "
        "{owner}. Is it meant?"
    ),
    "The worklist was written for {owners}, and the answer is about a product of {owner}. Is it meant?",
    "The check {check} asks for nothing in {place} of this product, a product of {owner}. Is it meant?",
    "The worklist did not ask for {place} of this product, a product of {owner}. Is it meant?",
    "The hidden key of its row was changed. The answer is about a product of {owner}. Is it meant?",
    (
        "Its row shows that it asks for {text}, and its hidden key is of a row that asks for something else. The answer is "
        "about a product of {owner}. Is it meant?"
    ),
    "no column is called 'New value'. Name the one with the answers so.",
    "the cell shows the error {text}. Write the value.",
    "the cell holds a formula without its result. Write the value, or save the file in a spreadsheet.",
    "the cell is merged over {count} rows. Split it, and write into each row what is meant for it.",
    "{text} is struck through, as a whole or in part. Remove what is not meant, and the line through what is.",
    "the row no longer says which rows it is for. Write the answer into the sheet 'To fix'.",
    "no row of the sheet 'To fix' is one of those that it is for. Write it into the rows that are meant.",
    "its sheet is hidden, so it is not used. Show the sheet if the answer is meant.",
    "a line break in {text}. Write it on one line.",
    "{characters} characters, and the limit is {limit}: {text}. Shorten it.",
    *("a date ({text})", "a number ({text})", "a percentage ({text})", "a truth value ({text})"),
    "Write the GTIN as text.",
    "{text} is not a number that a spreadsheet knows.",
    "{text} is not a date that a spreadsheet knows.",
    "{text} is not a text of the workbook.",
    "{text} is not a place in a sheet.",
    "The answer of its row is not used.",
    "Take the row from the worklist again.",
    "Write the value as text.",
    "Write the value.",
    "it has half a character without its other half.",
    "it holds {letter}, which programs write for a letter that they cannot read.",
    "Write the answer again, and save it as a workbook (.xlsx) or as CSV in UTF-8.",
    "it is of the unknown kind {text}.",
    "it is struck through, and the answer of its row is not used.",
    "Remove the line if it is meant.",
    "its letters may be {values}: nothing in the file says in which encoding it is.",
    "Save the file as CSV in UTF-8, or as a workbook (.xlsx), and read that.",
    "letters of this file were lost when it was saved: it has {text} for {other}.",
    "no sheet has the headings of a worklist: GTIN, Field and New value.",
    "Name its columns as they were.",
    "not judged: the check is not part of the profile",
    "cannot be judged before the service has it",
    "the cell holds a formula without its result, and the answer of its row is not used.",
    "{path} has no text in {code} yet, and its code needs a country. Give a column language_code, such as {example}.",
    "not sent: {said}",
    "the service says {text}",
)

#: Facts and omissions, by `prodex.worklists.folder` and `prodex.worklists.follow_up`.
FACTS = (
    *("Catalogue", "Scope", "Audited", "Profile", "Made by"),
    "{source}, {products} products, complete",
    "{source}, {products} products, INCOMPLETE: {text}",
    "{source}, {products} products",
    "{moment} UTC, as of {then_moment}",
    "{profile}, {checks} checks, rule set {rule_set}",
    "prodex {version}, one worklist per {by}",
    *(
        "owner",
        "owner_id",
        "brand",
        "kind",
        "GPC brick",
        "market",
        "tag",
        "language",
        "packaging",
        "brand_code",
    ),
    *("without owner", "without brand", "without kind", "without market", "without tag", "without language"),
    "{count} product has an update that waits for acceptance; it was not judged.",
    "{count} products have an update that waits for acceptance; it was not judged.",
    "Everything that passes: worklists contain only the findings of failing checks.",
    "{count} of {of} findings of the audit: only those with {text} were selected.",
    (
        "{count} results of the audit are unknown: the data they need were not requested, nothing decides whether they "
        "apply, or a rule crashed."
    ),
    "{count} checks crashed: {text}.",
    (
        "The last change of products, and which of several texts is meant: the catalogue was not available when this was "
        "written."
    ),
    "Everything that was taken: only answers that could not be used are listed, each with the reason.",
    "Answers that change nothing. What can be sent has its new value; what could not be used, the reason.",
    "an answer came back for them",
    "{count} finding of other channels that ask for the same: one answer serves them all.",
    "{count} findings of other channels that ask for the same: one answer serves them all.",
    "{count} finding that were accepted: {text}.",
    "{count} findings that were accepted: {text}.",
    "Scope: {said}",
    "… ({count} of {of} characters)",
)

#: Things that are counted: one, and several.
COUNTED = (
    ("{number} product", "{number} products"),
    ("{number} finding", "{number} findings"),
    ("{number} check", "{number} checks"),
    ("{number} failing check", "{number} failing checks"),
    ("{number} answer", "{number} answers"),
    ("{number} attribute", "{number} attributes"),
    ("{number} character", "{number} characters"),
    ("{number} audit", "{number} audits"),
    ("{number} figure", "{number} figures"),
)
