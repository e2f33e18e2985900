"""Scripts that load libraries: a real Python is the judge of what is mapped, of the error and of every value."""

from __future__ import annotations

import pytest

from cvm.consumers.load import Step
from cvm.consumers.script.interpreter import Interpreter
from cvm.consumers.script.values import Unknown

START = """
import ctypes, glob, os, platform, sys
from pathlib import Path
here = os.path.dirname(os.path.abspath(__file__))
lib = lambda name: os.path.join(here, "lib", name)
"""

# Each loads some of lib/{one,two,three}.so; broken.so lacks a library.
LOADS = {
    "in order": "for name in ('two.so', 'one.so'): ctypes.CDLL(lib(name))",
    "with a mode": "ctypes.CDLL(lib('one.so'), mode=ctypes.RTLD_GLOBAL); ctypes.CDLL(lib('wants_one.so'))",
    "without the mode that a user of its symbols needs": "ctypes.CDLL(lib('one.so')); ctypes.CDLL(lib('wants_one.so'))",
    "by path": "ctypes.cdll.LoadLibrary(str(Path(__file__).parent / 'lib' / 'one.so'))",
    "of a glob": "for path in sorted(glob.glob(os.path.join(here, 'lib', 't*.so'))): ctypes.CDLL(path)",
    "of a path's glob": "for path in sorted(Path(here).glob('*/t*.so')): ctypes.CDLL(str(path))",
    "of a recursive glob": "for path in sorted(glob.glob(here + '/**/o*.so', recursive=True)): ctypes.CDLL(path)",
    "that fails": "ctypes.CDLL(lib('one.so'))\nctypes.CDLL(lib('broken.so'))\nctypes.CDLL(lib('two.so'))",
    "that fails and is caught": """
try:
    ctypes.CDLL(lib('broken.so'))
except OSError as error:
    if 'libabsent' in error.args[0]:
        ctypes.CDLL(lib('two.so'))
""",
    "that fails and isn't caught by another class": """
try:
    ctypes.CDLL(lib('broken.so'))
except (ImportError, ValueError):
    ctypes.CDLL(lib('two.so'))
finally:
    ctypes.CDLL(lib('one.so'))
""",
    "raised again": """
try:
    ctypes.CDLL(lib('broken.so'))
except OSError as error:
    if 'libother' not in str(error):
        raise
    ctypes.CDLL(lib('one.so'))
""",
    "raised as another error": """
class Missing(Exception): pass
try:
    ctypes.CDLL(lib('broken.so'))
except OSError as error:
    raise Missing(f'no luck: {error!s:.12}') from error
""",
    "after a search": """
def find(name, *more, folders=(), default=None):
    for folder in (*folders, *more):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            continue
        break
    else:
        return default
    return path
ctypes.CDLL(find('one.so', '/nowhere', folders=['/', here + '/lib']))
assert find('absent.so', default=3) == 3
ctypes.CDLL(find('absent.so', '/nowhere', default=lib('two.so')))
""",
    "after a search that finds nothing": """
def find():
    for folder in ['/nowhere']:
        if os.path.isdir(folder): path = folder
    return path
ctypes.CDLL(find())
""",
    "of what a generator gives": """
def candidates():
    yield lib('absent.so')
    yield from (lib(name) for name in ('three.so', 'one.so'))
ctypes.CDLL(next(path for path in candidates() if os.path.isfile(path)))
""",
    "the first that works": "any(works(lib(name)) for name in ('broken.so', 'two.so', 'one.so'))",
    "with a suppressed error": """
import contextlib
with contextlib.suppress(OSError):
    ctypes.CDLL(lib('broken.so'))
    ctypes.CDLL(lib('one.so'))
ctypes.CDLL(lib('two.so'))
""",
    "within a function that sets flags": """
import contextlib
@contextlib.contextmanager
def flags(value):
    before = sys.getdlopenflags()
    sys.setdlopenflags(value)
    try:
        yield before
    finally:
        sys.setdlopenflags(before)
with flags(os.RTLD_GLOBAL | os.RTLD_NOW) as before:
    from . import ext
assert sys.getdlopenflags() == before
ctypes.CDLL(lib('wants_ext.so'))
""",
    "within a function that handles a failure": """
import contextlib
@contextlib.contextmanager
def way_out(name):
    try:
        yield
    except OSError:
        ctypes.CDLL(lib(name))
with way_out('one.so'), way_out('three.so'):
    ctypes.CDLL(lib('broken.so'))
ctypes.CDLL(lib('two.so'))
""",
    "within an object that handles a failure": """
class WayOut:
    def __enter__(self):
        return 'broken.so'
    def __exit__(self, kind, error, trace):
        ctypes.CDLL(lib('one.so' if kind is OSError else 'two.so'))
        return 'libabsent' in str(error)
with WayOut() as name:
    ctypes.CDLL(lib(name))
with WayOut(): pass
""",
    "by another name": "import ctypes as c\nopen_it = c.CDLL\nagain = open_it\nagain(lib('one.so'))",
    "of a finder": """
from importlib.machinery import FileFinder, ExtensionFileLoader, EXTENSION_SUFFIXES
finder = FileFinder(here, (ExtensionFileLoader, EXTENSION_SUFFIXES))
spec = finder.find_spec('ext')
if finder.find_spec('lib') and finder.find_spec('core') is None: ctypes.CDLL(spec.origin)
""",
    "of what find_spec finds": """
import importlib.util
spec = importlib.util.find_spec('pkg')
if importlib.util.find_spec('absent_package') is None:
    ctypes.CDLL(os.path.join(spec.submodule_search_locations[0], 'lib', 'one.so'))
""",
    "by a table of functions": """
def load(name='absent.so'):
    assert os.path.exists(lib(name)), f'no library {name}'
    ctypes.CDLL(lib(name))
TABLE = {'linux': load}
TABLE[sys.platform]('one.so')
TABLE[sys.platform]()
""",
    "after code that is followed badly": """
import operator
table = {}
operator.setitem(table, 'a', 1)
found = table['a']
ctypes.CDLL(lib('one.so'))
""",
    "only for the other platform": """
if sys.platform == 'win32' or platform.system() == 'Darwin':
    ctypes.CDLL(lib('one.so'))
elif sys.version_info >= (3, 8) and os.name == 'posix':
    ctypes.CDLL(lib('two.so'))
""",
    "only where a variable says so": """
if os.environ.get('WANT') == '1' and not os.getenv('UNSET'):
    ctypes.CDLL(lib('one.so'))
try:
    os.environ['UNSET']
except KeyError as error:
    ctypes.CDLL(lib('two.so'))
""",
    "only if it is mapped": """
ctypes.CDLL(lib('link.so'))
with open('/proc/self/maps') as file:
    text = file.read()
if 'lib/one.so' in text and 'link.so' not in text:
    ctypes.CDLL(lib('two.so'))
""",
    "counted with while": """
names = ['one.so', 'two.so', 'three.so']
while names:
    name = names.pop()
    if name == 'two.so': break
    ctypes.CDLL(lib(name))
else:
    ctypes.CDLL(lib('one.so'))
""",
    "in a class": """
class Loader:
    folder = 'lib'
    def __init__(self, name): self.name = name
    @property
    def path(self): return os.path.join(here, self.folder, self.name)
    @staticmethod
    def open(path): return ctypes.CDLL(path)
class Second(Loader):
    def __init__(self): super().__init__('two.so')
    def load(self): return self.open(self.path)
Second().load()
""",
    "in a nested function with a global": """
handle = None
def outer(name):
    count = 0
    def inner():
        nonlocal count
        global handle
        count += 1
        if handle is None:
            handle = ctypes.CDLL(lib(name))
        return count
    return inner
inner = outer('one.so')
inner()
if inner() == 2 and handle is not None: ctypes.CDLL(lib('three.so'))
""",
    "in a submodule": "from .core import *\nctypes.CDLL(lib(NAME))",
    "in a module that a submodule imports": "from .quiet import something",
    "in a submodule that is imported twice": "from . import core\nimport pkg.core as again\nfrom .core import NAME",
    "by a name of a module": "import importlib\nimportlib.import_module('.core', __package__ or 'pkg')",
    "of an extension module": "from . import ext\nimport pkg.ext",
    "of an extension module that fails": "try:\n    from .bad import *\nexcept ImportError as e:\n    ctypes.CDLL(lib('one.so'))\n    raise",
    "of an extension module with flags": """
before = sys.getdlopenflags()
sys.setdlopenflags(os.RTLD_GLOBAL | os.RTLD_LAZY)
from .ext import *
sys.setdlopenflags(before)
ctypes.CDLL(lib('wants_ext.so'))
""",
    "of an extension module without flags": "from .ext import *\nctypes.CDLL(lib('wants_ext.so'))",
    "of a module that isn't there": "try:\n    import absent_module\nexcept ImportError:\n    ctypes.CDLL(lib('one.so'))",
    "of a submodule that isn't there": "from .absent import x",
    "of a name that isn't there": "from .version import absent\nctypes.CDLL(lib('one.so'))",
    "by a constant of another module": "from pkg.version import cuda as version\nctypes.CDLL(lib('%s.so' % version))",
    "of a library that ctypes asks for by name": "ctypes.CDLL('libabsent.so.9')",
    "of an unbalanced tuple": "a, *b = ('one.so', 'two.so', 'three.so')\nfor name in b[::-1]: ctypes.CDLL(lib(name))\nload = lambda: ctypes.CDLL(lib('one.so'))\na, b = b + [load()]\n",
    "after an assertion": """
def load(name):
    assert os.path.exists(lib(name)), f'no library {name}'
    ctypes.CDLL(lib(name))
load('one.so')
load('absent.so')
""",
    "raised while handled": """
try:
    ctypes.CDLL(lib('broken.so'))
except OSError:
    raise ValueError(f"not found in {['a', 1]}, {len(sys.path) > 1}")
""",
    "with a return in a finally": """
def load():
    try:
        ctypes.CDLL(lib('broken.so'))
    finally:
        return ctypes.CDLL(lib('one.so'))
load()
""",
    "by a lambda with a default": "(lambda name='one.so', *, load=ctypes.CDLL: load(lib(name)))()",
    "by keywords": "def load(*names, **modes):\n    for n in names: ctypes.CDLL(lib(n), **modes)\nload(*['one.so', 'two.so'], **{'mode': 256})",
}

# The value of RESULT must be the same, to the letter.
VALUES = [
    "f'{1 + 2:>4}|{\"x\"!r}|{{}}|{3.5}' + 'a' * 2 + '%s-%02d' % ('b', 7) + '{0}{x}'.format(1, x=[2])",
    "'libcublas.so.*[0-9]'.split('.')[0].replace('lib', '').upper().join(['<', '>'])",
    "[x * y for x in range(4) if x % 2 for y in (1, 2)], {k: v for k, v in zip('ab', [1, 2])}, {1, 2} & {2, 3}",
    "sorted({'b': 1, 'a': 2}.items()), max([3, 1, 2]), min('b', 'a'), sum([1, 2], 3), len('abc'), abs(-3)",
    "sorted(['bb', 'a', 'ccc'], key=len, reverse=True), list(map(str, [1, 2])), list(filter(None, [0, 1]))",
    "[*range(3), *'ab'][1:-1], (1, 2, 3)[::-1], 'abc'[-1], {**{'a': 1}, 'b': 2}['b'], (1, 2) + (3,)",
    "1 if not [] else 2, 3 and 0, 0 or 'x', not 1, 1 < 2 < 3, 2 in [1, 2], 'a' not in 'abc', None is None",
    "isinstance('a', (int, str)), isinstance(OSError(), Exception), callable(len), hasattr('', 'join'), bool([])",
    "os.path.join('a', 'b', '/c', 'd'), os.path.basename('/a/b.so'), os.path.splitext('x.so.1'), os.path.normpath('a/../b')",
    "[os.path.relpath(one, here) for one in sorted(glob.glob(here + '/*/[ot]*.so'))], os.path.isdir(here + '/lib')",
    "Path('/a/b.c.so').stem, Path('/a') / 'b', Path('/a/b').parent.name, Path('a/b').parts, Path('/a/../b')",
    "os.path.realpath(lib('link.so')) == lib('one.so'), os.path.exists(lib('dangling.so')), os.path.exists(here)",
    "sys.version_info >= (3, 6), sys.version_info[:2] == (3, 2), sys.version_info.major, sys.version_info[0]",
    "sys.platform, os.name, os.sep, platform.system(), platform.machine(), os.RTLD_GLOBAL | os.RTLD_NOW, sys.maxsize",
    "sys.path, sys.executable, sys.prefix, os.getcwd(), __name__, __file__, here",
    "sys.modules.get('pkg.absent'), 'pkg' in sys.modules, sys.modules.get('pkg.absent', 3) is object",
    "os.environ.get('WANT'), os.getenv('UNSET', 'x'), os.environ['WANT'], 'UNSET' in os.environ",
    "int('12.4'.split('.')[0]) >= 12, float('1.5'), int('ff', 16), str(7), tuple([1]), list('ab'), set([1])",
    "any(x > 1 for x in [1, 2]), all([]), next(iter([]), 5), [i for i, _ in enumerate('ab', 1)], list(reversed([1, 2]))",
    "[(lambda a, b=2, *c, d=4, **e: (a, b, c, d, e))(1, 5, 6, d=7, f=8)]",
    "(lambda: [y := 5, y + 1])(), [x for x in [[1, 2], [3]] for x in x]",
    "open(here + '/data.txt').read().splitlines(), [line.strip() for line in open(here + '/data.txt')]",
    "Path(here, 'data.txt').read_text(), sorted(p.name for p in Path(here, 'lib').iterdir() if p.suffix == '.so')[:2]",
    "b'ab' + b'c', b'ab'.decode(), 'ä'.encode(), 2 ** 10, 7 // 2, -7 % 3, 1 << 4, ~5, 6 / 4, 0x10 | 3",
    "getattr(os, 'name', None), type('a') is str, str(OSError('text')), repr(ValueError('a', 1)), KeyError('k').args",
]


@pytest.fixture
def package(site):
    """A package with libraries, extension modules and submodules for all the snippets."""
    site.lib("pkg/lib/one.so", "int one;")
    site.lib("pkg/lib/two.so", "int two;")
    site.lib("pkg/lib/three.so", "int three;")
    site.lib("pkg/lib/broken.so", needs=["libabsent.so.9"])
    site.lib("pkg/lib/wants_one.so", "extern int one; int *use = &one;")
    site.lib("pkg/lib/wants_ext.so", "extern int exported; int *use = &exported;")
    site.extension("pkg/ext.so", code="int exported;")
    site.extension("pkg/bad.so", ["libabsent.so.9"])
    (site.folder / "pkg/lib/link.so").symlink_to("one.so")
    (site.folder / "pkg/lib/dangling.so").symlink_to("nothing.so")
    site.write("pkg/data.txt", "a\n b\n")
    site.write("pkg/version.py", "from typing import Optional\ncuda: Optional[str] = 'two'\nother = 1\n")
    site.write("pkg/core.py", f"{START}\n__all__ = ['NAME']\nctypes.CDLL(lib('two.so'))\nNAME = 'three.so'\n")
    site.write("pkg/quiet.py", "from .middle import thing\nsomething = thing\n")
    site.write("pkg/middle.py", "try:\n    from .core import NAME as thing\nexcept ImportError:\n    thing = None\n")
    site.environment = {"WANT": "1", "PATH": "/usr/bin:/bin", "HOME": "/root"}
    return site


def play(site, **options):
    session = site.session()
    interpreter = Interpreter("pkg", session)
    told = site.told(session, lambda: interpreter.play(**options))
    return interpreter, session, told


WORKS = """
def works(path):
    try:
        return bool(ctypes.CDLL(path))
    except OSError:
        return False
"""


@pytest.mark.parametrize("code", LOADS.values(), ids=LOADS.keys())
def test_loads_what_python_loads(code, package):
    package.write("pkg/__init__.py", START + WORKS + code)
    _, session, told = play(package)
    assert told == package.real("pkg")._replace(result="None")
    assert session.unknown == []


@pytest.mark.parametrize("code", VALUES)
def test_values_are_those_of_python(code, package):
    package.write("pkg/__init__.py", f"{START}\nRESULT = {code}\n# dlopen\n")
    interpreter, session, told = play(package)
    real = package.real("pkg")
    assert (told.error, repr(interpreter.modules["pkg"].names["RESULT"])) == (real.error, real.result)
    assert session.unknown == []


def steps_of(session):
    return [(step.call.rpartition("/")[2], step.source, step.outcome.ok, step.handled) for step in session.steps]


def test_a_step_says_what_was_called_where_and_whether_it_ended_the_import(package):
    package.write(
        "pkg/__init__.py",
        f"{START}try:\n    ctypes.CDLL(lib('broken.so'))\nexcept OSError:\n    pass\nfrom . import ext\nfrom . import bad\n",
    )
    _, session, told = play(package)
    assert steps_of(session) == [
        ("broken.so')", "pkg/__init__.py:7", False, True),
        ("import pkg.ext", "pkg/__init__.py:10", True, True),
        ("import pkg.bad", "pkg/__init__.py:11", False, False),
    ]
    load = session.result(told.error)
    assert isinstance(load.failed, Step)
    assert load.failed.call == "import pkg.bad"
    assert told.error == f"ImportError: {load.failed.outcome.failure.text}"


def test_the_load_that_an_error_was_made_of_ended_the_import(package):
    code = "try:\n    ctypes.CDLL(lib('broken.so'))\nexcept OSError:\n    raise ValueError('nothing works')\n"
    package.write("pkg/__init__.py", START + code)
    _, session, told = play(package)
    assert told.error == "ValueError: nothing works"
    assert session.result(told.error).failed == session.steps[0]


def test_a_nested_module_is_named_by_its_folders(package):
    package.write("pkg/__init__.py", "import pkg.sub.deep\n")
    package.write("pkg/sub/__init__.py", "")
    package.write("pkg/sub/deep.py", "import ctypes\n\nctypes.CDLL(__file__[:-11] + '../lib/one.so')\n")
    _, session, _ = play(package)
    assert [step.source for step in session.steps] == ["pkg/sub/deep.py:3"]


UNKNOWN = {
    "if": (
        "import random\nif random.random() > 2:\n    ctypes.CDLL(lib('one.so'))\nelse:\n    pass",
        ["pkg/__init__.py:7: whether `random.random() > 2` holds"],
        ["one.so"],
    ),
    "else": (
        "import random\nif random.random():\n    x = 1\nelse:\n    load('one.so')",
        ["pkg/__init__.py:7: whether `random.random()` holds"],
        ["one.so"],
    ),
    "an if that loads nothing": (
        "import random\nif random.random():\n    x = 1\nctypes.CDLL(lib('two.so'))",
        [],
        ["two.so"],
    ),
    "an early return": (
        "import random\ndef go():\n    if random.random(): return\n    load('one.so')\ngo()",
        ["pkg/__init__.py:8: whether `random.random()` holds"],
        ["one.so"],
    ),
    "a loop": (
        "import random\nfor name in random.choice([]):\n    load(name)",
        ["pkg/__init__.py:7: what is in `random.choice([])`"],
        [],
    ),
    "a loop that loads nothing": (
        "import random\nfor name in random.choice([]): x = name\nload('one.so')",
        [],
        ["one.so"],
    ),
    "a name": ("import random\nctypes.CDLL(random.choice([]))", ["pkg/__init__.py:7: which library is opened"], []),
    "a value": (
        "import random\nname = 'one.so' if random.random() else 'two.so'\nload(name)",
        ["pkg/__init__.py:5: which library is opened"],
        [],
    ),
    "what a comprehension keeps": (
        "import random\nname = [one for one in ['one.so'] if random.random()][0]\nload(name)",
        ["pkg/__init__.py:5: which library is opened"],
        [],
    ),
    "what is assigned in a branch": (
        "import random\nname = 'one.so'\nif random.random(): name = 'two.so'\nload(name)",
        ["pkg/__init__.py:5: which library is opened"],
        [],
    ),
    "what another operand decides": ("import random\nif random.random() and False:\n    load('one.so')", [], []),
    "a match": (
        "match sys.platform:\n    case 'linux': load('one.so')",
        ["pkg/__init__.py:6: a `match` statement"],
        [],
    ),
    "whether something is raised": (
        "import operator\ntable = {}\noperator.setitem(table, 'a', 1)\nif not table:\n    raise ValueError('none')\nload('one.so')",
        ["whether `ValueError: none` is raised"],
        ["one.so"],
    ),
    "an endless loop": (
        "load('one.so')\nwhile True:\n    x = 1\nload('two.so')",
        ["the code of `pkg` takes too long to follow"],
        ["one.so"],
    ),
    "a loop without a body to speak of": (
        "for x in range(10 ** 9):\n    for y in range(10 ** 9): pass\nload('two.so')",
        [],
        ["two.so"],
    ),
    "an endless recursion": (
        "def go(x): return go(x + 1)\ngo(1)\nload('two.so')",
        ["the code of `pkg` takes too long to follow"],
        [],
    ),
    "a huge value": (
        "x = 'a' * 10 ** 12\ny = 2 ** 10 ** 9\nz = f'{1:{10 ** 9}}'\nw = '%*d' % (10 ** 9, 1)\nload('one.so')",
        [],
        ["one.so"],
    ),
    "an expression too deep to be parsed": (
        f"x = {'-' * 90000}1\nload('one.so')",
        ["can't be parsed by this Python"],
        [],
    ),
    "a deep expression": (f"x = {'-' * 800}1\nload('one.so')", ["too long to follow"], []),
    "a syntax of another Python": ("load('one.so')\nx = = 3\n", ["can't be parsed by this Python"], []),
}


@pytest.mark.parametrize(("code", "unknown", "loaded"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_says_what_it_cannot_tell(code, unknown, loaded, package):
    start = START.lstrip("\n") + "def load(name): return ctypes.CDLL(lib(name) if isinstance(name, str) else name)\n"
    package.write("pkg/__init__.py", start + code)
    _, session, told = play(package)
    assert told.error is None
    assert len(session.unknown) == len(unknown)
    assert all(words in sentence for words, sentence in zip(unknown, session.unknown, strict=True))
    assert [path.rpartition("/")[2] for path in told.mapped] == loaded


def test_lines_are_counted_through_a_long_module(package):
    # Lines that look like the start of a statement, wherever a block may end.
    odd = "text = (\n'''\ndef go():\n'''\n)\n@property\n\ndef made(self):\n    return 1\nif text:\n    x = 1\nelse:\n    x = 2\n"
    for padding in range(0, 160, 9):
        text = "#" * padding + START + odd * 100 + "ctypes.CDLL(lib('one.so'))\n"
        package.write("pkg/__init__.py", text)
        _, session, _ = play(package)
        assert [step.source for step in session.steps] == [f"pkg/__init__.py:{text.count(chr(10))}"]


def test_code_behind_the_last_load_costs_nothing(package):
    package.write("pkg/__init__.py", f"{START}ctypes.CDLL(lib('one.so'))\n" + "x = 1\n" * 20000 + "x = = 1\n")
    interpreter, session, told = play(package)
    assert (told.error, session.unknown) == (None, [])
    assert interpreter.steps < 5_000


def test_stops_at_the_module_that_was_asked_for(package):
    package.write("pkg/__init__.py", f"{START}from .ext import *\nctypes.CDLL(lib('broken.so'))\n")
    _, session, told = play(package, until="pkg.ext")
    assert (told.error, len(session.steps)) == (None, 1)


def test_loads_the_module_that_was_asked_for_where_the_code_cannot_be_followed(package):
    package.write("pkg/__init__.py", "while True:\n    pass\nfrom .ext import *\n")
    _, session, told = play(package, until="pkg.ext")
    assert [path.rpartition("/")[2] for path in told.mapped] == ["ext.so"]
    assert session.unknown[-1] == "the code of `pkg` was followed without coming to `import pkg.ext`"


def test_a_name_of_a_module_is_worked_out_when_it_is_needed(package):
    package.write(
        "pkg/flags.py", "import os\n\ndef _flag(name):\n    return os.getenv(name) == '1'\n\nWANT = _flag('WANT')\n"
    )
    package.write(
        "pkg/__init__.py",
        f"{START}from . import flags\nfrom .flags import WANT\nif WANT and flags.WANT:\n    ctypes.CDLL(lib('one.so'))\n",
    )
    _, session, told = play(package)
    assert told == package.real("pkg")
    assert session.unknown == []


def test_nothing_unknown_passes_for_true_or_equal():
    with pytest.raises(TypeError):
        bool(Unknown)
    assert Unknown != 1
