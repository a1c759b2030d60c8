"""Text in images: lines found and read on a coarse copy, and matched to a question.

``lines`` says what a line is and finds lines without any package, ``reader`` finds and reads them by RapidOCR;
``matching`` says which label a question means.
"""
