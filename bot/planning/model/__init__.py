"""The planner that a model drives (N3, N5 to N8, N41, K1): it composes steps, and only ever proposes them.

Tried where no command, title or runbook reads the words. The turn records the request and says that it is
being thought about; a worker outside of it calls the model, one counted call at a time, and writes what the
model wants as ordinary proposals. What only reads runs by the rules of everything else and goes back to the
model; anything else waits for a person, and the plan goes on with its recorded end. The plan and its words
live in the ledger, so that a new process goes on where the last one stopped, and what was edited goes
nowhere.

`thinking` is what a model is told and answers, `endpoint` the one module that speaks to one. `tools` lists
what it may ask for; `wanting` and `looking` do that. `course` makes every move of a plan, each one batch;
`restoring` reads a plan back; `worker` waits for the model. No tool decides, settles, resumes or changes
policy, and nothing here reads a token, a phrase or a key.
"""
