"""Questions whose answers are known: what tokens show of the answer, and what can be read from them alone.

``pairs`` has images with questions and answer boxes, ``showing`` how much of the box is shown in full detail,
``reading`` whether OCR reads the answer, ``page`` the report.
"""
