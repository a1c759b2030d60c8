"""Recorded demands: traces, the policies that serve them, and the evaluation of what each policy did.

Traces and their files, paths of cameras, policies (one per file, ours and those of other systems, by name in
``policies``) and the replay of their logs belong here.
"""
