"""The supervisor of runbooks: what a step may do next, decided apart from whoever does it (R1, C17).

It permits, blocks and records, holds no credentials and does no work. A runner hands it what it is about to
do and gets a verdict, hands it what came of a step and gets the next one. All of it is functions of values:
a run is what replaying its events gives. `domain` holds the words, `document` says what is wrong with a
runbook, `envelope` derives the policy from it, `run` decides, `state` replays, `report` tells what happened.
"""
