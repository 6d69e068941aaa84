"""Languages of those who read what prodex writes: messages, figures and dates in English, French, German and Dutch.

A language is a value, `Translation`, that is passed to what writes. English is what the code says; others are gettext
catalogues, one folder for each. What is made deep inside, where nobody knows yet who will read it (the reason of a
finding, why an answer was not taken), is a `Message`: a sentence and its values, put into words where it is shown.

>>> message = Message.of_number("{number} product", "{number} products", 12000)
>>> Translation("de").say(message), Translation("en").say(message)
('12.000 Produkte', '12,000 products')
"""

from prodex.languages.message import Message, Said, either
from prodex.languages.translation import ENGLISH, LANGUAGES, Translation, add_messages

__all__ = ["ENGLISH", "LANGUAGES", "Message", "Said", "Translation", "add_messages", "either"]
