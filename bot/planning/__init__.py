"""Planning: from what a person wrote to drafts of actions, deterministically.

`plan.plan` is the way in. It tries the literal grammar (`literal`), then titles and aliases of the library
(`titles`); where neither is certain it asks or names what is near. It only ever proposes: whether a draft may
run is the gate's business, and nothing here reads files, clocks or the inventory.
"""
