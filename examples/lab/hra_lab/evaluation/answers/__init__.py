"""Answers from tokens by judges that were trained elsewhere: text that OCR reads, things that a classifier names.

``tasks`` has images with a question and a judge, ``methods`` the ways to spend tokens, ``run`` all of them on all
tasks, ``intervals`` and ``equal`` what can be said of the scores, ``reading`` and ``seeing`` the two judges.
"""
