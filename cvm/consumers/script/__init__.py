"""A small interpreter of the Python by which a package loads its libraries: what is loaded, in which order, what fails.

    session = Session(world)
    reached = Interpreter("torch", session).play(until="torch._C")      # raises LoadError where the import fails
    session.steps, session.unknown

The code is read, never run: values that are known (paths, the platform, what files there are) are worked out, all
others are `Unknown`. Where something unknown decides about a load, that is noted with its line, and the more usual way
is taken. An error ends the import if its reason is sure (a load, a file, a module that isn't there, a function that
loads); any other is more likely a fault of the interpretation, and what raised it is left out.
"""
