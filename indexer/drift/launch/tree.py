"""YAML and JSON: one walk over composed nodes, which keep their marks.

Finds commands in any shape that people use: ``command``/``args``/``entrypoint`` lists and strings,
``sh -c`` scripts, scripts in block scalars (workflows, ConfigMaps), mappings whose keys are the
server's options, and Compose's and Kubernetes' environments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import yaml
from msgspec import structs

from indexer.drift.launch import yaml_nodes
from indexer.drift.launch.located import Located
from indexer.drift.launch.model import DYNAMIC, FileLaunches, Keyword, Launch, Setting, VersionHint, Word
from indexer.drift.launch.plain import plain_json, plain_yaml
from indexer.drift.launch.programs import (
    OTHER_IMAGE,
    find_launches,
    is_flag_list,
    soften,
    starts_sglang,
)
from indexer.drift.launch.shell import read_shell
from indexer.drift.launch.versions import image_version

MAX_DEPTH = 60
_STEPS_BACK = 20
"""So many lines before an error are left out, one by one, until the rest parses."""
_ENTRY_KEYS = ("entrypoint", "ENTRYPOINT")
_COMMAND_KEYS = ("command", "module", "program", "cmd")
_ARGS_KEYS = ("args", "arguments", "extraArgs", "extra_args", "CMD")
_LIST_KEYS = re.compile(r"arg|flag|option|command|cmd", re.IGNORECASE)
"""Keys whose lists and strings may be a program's options."""
SERVER_IMAGE = re.compile(r"(^|[/_-])(sglang|sgl-dev)(?![\w-]*(?:router|gateway))", re.IGNORECASE)
"""Images that hold the server, and keys of what a chart says of it."""
_ENGINE_KEYS = re.compile(r"(engine|runtime|framework)$", re.IGNORECASE)
_OTHER_PARTS = re.compile(
    r"router|gateway|proxy|nginx|envoy|ingress|prometheus|grafana|metric|exporter|monitor|bench|eval|redis|etcd"
    r"|operator|sidecar|init|frontend|webui|probe|build|download|test|job",
    re.IGNORECASE,
)
"""Keys of what else a chart starts."""
_OPTION_KEY = re.compile(r"^(--)?[a-z][a-z0-9]*([-_][a-z0-9]+)+$|^(tp|dp|ep|pp|host|port|model|dtype)$")
_ENVIRONMENT_KEYS = re.compile(r"env", re.IGNORECASE)
_SHELL_NAMES = re.compile(r"(^|/)(ba|z|da|k)?sh$")
_SETTING_NAME = re.compile(r"^(SGLANG|SGL)_[A-Z0-9_]+$")

Node: TypeAlias = Any
"""A ``yaml.Node``; which of the three kinds is asked with ``isinstance``."""


def read_tree(text: Located, *, json: bool = False) -> FileLaunches:
    """Read YAML or JSON. Templates are blanked out first; a broken document ends the reading there
    and is noted, what stands before it counts."""
    reader = _Reader(plain_yaml(text) if not json else plain_json(text))
    reader.run()
    return reader.found


class _Reader:
    def __init__(self, text: Located) -> None:
        self.text = text
        self.found = FileLaunches()
        self.pending: list[tuple[str, Located]] = []
        self._ids: set[int] = set()
        self._of_container: set[int] = set()  # commands that no shell reads
        self._loose: list[Launch] = []  # lists of options that nobody owns yet

    def run(self) -> None:
        done = 0
        try:
            for document in yaml.compose_all(self.text.text, Loader=yaml.CSafeLoader):
                if document is not None:
                    self.node(document, 0, top=True)
                    done = document.end_mark.index
        except (yaml.YAMLError, RecursionError) as error:
            line = getattr(getattr(error, "problem_mark", None), "line", None)
            where = f" at line {line + 1}" if line is not None else ""
            self.found.notes.append(f"not valid YAML or JSON{where}: read up to there")
            if line is not None:
                self.beginning(done, line)
        self.link_configs()

    def beginning(self, done: int, line: int) -> None:
        """Read the document that is broken at ``line`` as far as it parses; ``done`` is where the last
        whole document ended. What its launches end with isn't told."""
        text = self.text.text
        lines = [match.end() for match in re.finditer("\n", text)]
        for last in range(line, max(line - _STEPS_BACK, 0), -1):
            end = lines[last - 1] if last <= len(lines) else len(text)
            try:
                documents = list(yaml.compose_all(text[:end], Loader=yaml.CSafeLoader))
            except (yaml.YAMLError, RecursionError):
                continue
            before = len(self.found.launches)
            for document in documents:
                if document is not None and document.end_mark.index > done:
                    self.node(document, 0, top=True)
            for launch in self.found.launches[before:]:
                launch.open_end = True
            return

    # --- walking ----------------------------------------------------------------------------

    def node(self, node: Node, depth: int, *, top: bool = False) -> None:
        if depth > MAX_DEPTH or id(node) in self._ids:
            return
        self._ids.add(id(node))
        if isinstance(node, yaml.MappingNode):
            self.mapping(node, depth, top)
        elif isinstance(node, yaml.SequenceNode):
            if not self.sequence([node]):
                for child in node.value:
                    if isinstance(child, yaml.ScalarNode):
                        self.scalar(child, alone=False)
                    else:
                        self.node(child, depth + 1)
        elif isinstance(node, yaml.ScalarNode):
            self.scalar(node)

    def mapping(self, node: yaml.MappingNode, depth: int, top: bool) -> None:
        pairs = [(k.value, k, v) for k, v in node.value if isinstance(k, yaml.ScalarNode)]
        by_key = {name: value for name, _, value in pairs}
        before, unowned = len(self.found.launches), len(self._loose)
        settings = len(self.found.settings)
        taken = self.command(by_key)
        self.environment(pairs, by_key)
        as_options = self.options(pairs, top)
        for name, _key, value in pairs:
            if id(value) in taken or (as_options and not isinstance(value, yaml.MappingNode)):
                continue
            if isinstance(value, yaml.ScalarNode) and name.lower().endswith((".yaml", ".yml", ".json")):
                self.pending.append((name, self.located(value)))
            self.below(name, value, depth)
        image = by_key.get("image")
        engines = [value for name, _, value in pairs if _ENGINE_KEYS.search(name)]
        stated = [text for one in (image, *engines) if one is not None for text in _scalars(one)]
        if any(map(SERVER_IMAGE.search, stated)):
            self.own(unowned)
        elif image is not None:
            del self._loose[unowned:]
        if isinstance(image, yaml.ScalarNode):
            self.other_engine(image.value, before)
            version = image_version(image.value)
            if version is not None:
                hint = VersionHint(version, self.text.at(image.start_mark.index), "image tag")
                self.told_by(hint, before, settings)
        elif isinstance(image, yaml.MappingNode):
            self.helm_image(image, before, settings)

    def told_by(self, hint: VersionHint, launches: int, settings: int) -> None:
        """Give the launches and settings from these places on the version of their container's image."""
        for launch in self.found.launches[launches:]:
            launch.version = launch.version or hint
        for at, setting in enumerate(self.found.settings[settings:], settings):
            if setting.version is None:
                self.found.settings[at] = structs.replace(setting, version=hint)

    def below(self, name: str, value: Node, depth: int) -> None:
        """Read what stands under a key; note the lists of options there, and whose the key says they are."""
        before, unowned = len(self.found.launches), len(self._loose)
        self.node(value, depth + 1)
        if _LIST_KEYS.search(name) and not isinstance(value, yaml.MappingNode):
            self._loose += [one for one in self.found.launches[before:] if one.program == "fragment"]
        if _OTHER_PARTS.search(name):
            del self._loose[unowned:]
        elif SERVER_IMAGE.search(name):
            self.own(unowned)

    def own(self, begin: int) -> None:
        """Give the loose lists from ``begin`` on to SGLang."""
        for launch in self._loose[begin:]:
            launch.owned = True
        del self._loose[begin:]

    def other_engine(self, image: str, before: int) -> None:
        """Options without a program belong to the engine of their container's image."""
        engine = OTHER_IMAGE.search(image)
        for launch in self.found.launches[before:] if engine else ():
            if launch.program == "fragment":
                launch.program, launch.entry = "other-parser", engine[2] if engine else ""

    def helm_image(self, image: yaml.MappingNode, before: int, settings: int) -> None:
        """``image: {repository: lmsysorg/sglang, tag: v0.5.9}``."""
        parts = {k.value: v for k, v in image.value if isinstance(v, yaml.ScalarNode)}
        if "repository" in parts and "tag" in parts and parts["tag"].value:
            version = image_version(f"{parts['repository'].value}:{parts['tag'].value}")
            if version is not None:
                hint = VersionHint(version, self.text.at(parts["tag"].start_mark.index), "image tag")
                self.found.versions.append(hint)
                self.told_by(hint, before, settings)

    # --- commands ---------------------------------------------------------------------------

    def command(self, by_key: dict[str, Node]) -> set[int]:
        """Join ``entrypoint``, ``command`` and ``args`` of one mapping; return what was used."""
        keys = [key for group in (_ENTRY_KEYS, _COMMAND_KEYS, _ARGS_KEYS) for key in group if key in by_key]
        parts = [by_key[key] for key in keys if isinstance(by_key[key], yaml.SequenceNode | yaml.ScalarNode)]
        if not parts:
            return set()
        if len(parts) == 1 and {"image", "build"} & by_key.keys():
            self._of_container.add(id(parts[0]))
        before = len(self.found.launches)
        if self.sequence(parts, as_written="image" in by_key or "build" in by_key):
            self._loose += [one for one in self.found.launches[before:] if one.program == "fragment"]
            return {id(part) for part in parts}
        return set()

    def sequence(self, parts: list[Node], as_written: bool = False) -> bool:
        """Read nodes as one argument list; True when it is a launch or a list of options. A container's list
        goes to its program ``as_written``."""
        words: list[Word] = []
        for part in parts:
            if isinstance(part, yaml.SequenceNode):
                if not all(isinstance(child, yaml.ScalarNode) for child in part.value):
                    return False
                for child in part.value:
                    words += self.element(child)
            else:
                script = self.located(part)
                if len(parts) == 1:
                    return False
                words += list(_shell_words(script))
        if len(words) < 1:
            return False
        for i, word in enumerate(words[:-1]):
            if re.match(r"^-[a-z]*c$", word.text) and any(_SHELL_NAMES.search(w.text) for w in words[:i]):
                return False  # the script is a scalar of its own
        launches = list(find_launches(words))
        if as_written and launches and all(isinstance(part, yaml.SequenceNode) for part in parts):
            words = [self.argument(child) for part in parts for child in part.value]
            launches = list(find_launches(words))
        self.found.launches += launches
        for word in words:
            self.setting_word(word)
        if launches:
            return True
        if is_flag_list(words) and not any(starts_sglang(w.text) and " " in w.text for w in words):
            self.found.launches.append(
                Launch(program="fragment", words=words, open_end=True, partial=True, offset=words[0].start)
            )
            return True
        return False

    def element(self, node: yaml.ScalarNode) -> list[Word]:
        """Return the words of one list element: usually one; ``--flag value`` in one element is two
        words only for people, so it is split as they meant it when it begins with an option."""
        located = self.located(node)
        text = located.text
        if text.startswith("--") and re.match(r"^--[\w-]+\s+\S", text):
            return [Word(w.text, w.start, w.end, w.splits, w.branch) for w in _shell_words(located)]
        return [self.argument(node)]

    def argument(self, node: yaml.ScalarNode) -> Word:
        """Return a list element as the one word that it is for the program."""
        located = self.located(node)
        return soften(Word(located.text, located.at(0), located.literal_end(), located.text == DYNAMIC))

    def scalar(self, node: yaml.ScalarNode, alone: bool = True) -> None:
        """Read a string: a script, or options; one that is not ``alone`` is a word of its list."""
        value = node.value
        if len(value) < 6 or not ("--" in value or "sglang" in value or "SGL" in value):
            return
        located = self.located(node)
        if id(node) in self._of_container:
            located = yaml_nodes.argument_list(located)
        if starts_sglang(value) or re.search(r"^\s*#!|\bSGL(ANG)?_\w+=", value):
            more = read_shell(located)
            self.found.launches += more.launches
            self.found.settings += more.settings
        elif alone and value.lstrip().startswith("--"):
            words = list(_shell_words(located))
            if is_flag_list(words):
                self.found.launches.append(
                    Launch(program="fragment", words=words, open_end=True, partial=True, offset=located.at(0))
                )

    def located(self, node: yaml.ScalarNode) -> Located:
        return yaml_nodes.located(self.text, node)

    # --- mappings of options ----------------------------------------------------------------

    def options(self, pairs: list[tuple[str, yaml.ScalarNode, Node]], top: bool) -> bool:
        """Read a mapping whose keys may be options; the checker decides by their spelling."""
        named = [pair for pair in pairs if _OPTION_KEY.match(pair[0])]
        if len(named) < 2 or len(named) * 2 < len(pairs):
            return False
        dashed = sum("-" in name for name, _, _ in named)
        underscored = sum("_" in name for name, _, _ in named)
        if underscored > dashed:
            keywords = [
                Keyword(name, None, False, self.start(key), self.start(key) + len(name))
                for name, key, _ in named
            ]
            self.found.launches.append(
                Launch(program="fragment", keywords=keywords, partial=True, offset=keywords[0].start)
            )
            return False
        words = [word for name, key, value in pairs for word in self.option_words(name, key, value)]
        if not words:
            return False
        self.found.launches.append(
            Launch(
                program="fragment",
                words=words,
                config=True,
                linked=top and len(named) == len(pairs) and _names_model(words),
                partial=True,
                offset=words[0].start,
            )
        )
        return True

    def option_words(self, name: str, key: yaml.ScalarNode, value: Node) -> Iterator[Word]:
        start = self.start(key)
        yielded = Word("--" + name.removeprefix("--"), start, start + len(name))
        if isinstance(value, yaml.MappingNode):
            yield yielded
            yield Word(DYNAMIC, start, start, splits=True)
            return
        if isinstance(value, yaml.SequenceNode):
            yield yielded
            for child in value.value:
                if isinstance(child, yaml.ScalarNode):
                    yield from self.element(child)
            return
        truth, text = yaml_nodes.truth(value), value.value
        if truth is False or yaml_nodes.is_null(value):
            return
        yield yielded
        if truth:
            return
        located = self.located(value)
        if text.startswith("-") and not re.match(r"^-\d", text):
            yield Word(DYNAMIC, located.at(0), located.at(0))
        else:
            yield soften(Word(text, located.at(0), located.literal_end()))

    def start(self, node: yaml.ScalarNode) -> int:
        return yaml_nodes.start(self.text, node)

    def link_configs(self) -> None:
        """A document named by ``--config`` in the same file is read by the server's config reader."""
        named = {
            words[i + 1].text.rsplit("/", 1)[-1]
            for launch in self.found.launches
            for words in [launch.words]
            for i, word in enumerate(words[:-1])
            if word.text == "--config"
        }
        for name, content in self.pending:
            inner = _Reader(content)
            inner.run()
            for launch in inner.found.launches:
                launch.linked = name in named
            self.found.launches += inner.found.launches
            self.found.settings += inner.found.settings

    # --- environment ------------------------------------------------------------------------

    def environment(self, pairs: list[tuple[str, yaml.ScalarNode, Node]], by_key: dict[str, Node]) -> None:
        for name, key, value in pairs:
            if _SETTING_NAME.match(name):
                text = value.value if isinstance(value, yaml.ScalarNode) else None
                self.add_setting(name, text, self.start(key))
        name_node, value_node = by_key.get("name"), by_key.get("value")
        if isinstance(name_node, yaml.ScalarNode) and _SETTING_NAME.match(name_node.value):
            text = value_node.value if isinstance(value_node, yaml.ScalarNode) else None
            self.add_setting(name_node.value, text, self.start(name_node))

    def setting_word(self, word: Word) -> None:
        match = re.match(r"((?:SGLANG|SGL)_[A-Z0-9_]+)=(.*)$", word.text, re.DOTALL)
        if match:
            self.add_setting(match[1], match[2], word.start)

    def add_setting(self, name: str, value: str | None, start: int) -> None:
        self.found.settings.append(Setting(name, value, start, start + len(name)))


def _scalars(node: Node) -> Iterator[str]:
    """Yield the texts of a scalar, or of a mapping's values."""
    for one in [value for _, value in node.value] if isinstance(node, yaml.MappingNode) else [node]:
        if isinstance(one, yaml.ScalarNode):
            yield one.value


def _names_model(words: list[Word]) -> bool:
    """A whole document of options that begins with the model is what ``--config`` takes."""
    return any(word.text in ("--model-path", "--model") for word in words)


def _shell_words(text: Located) -> Iterator[Word]:
    """Split one string as Compose and ``shlex`` do, following no variables."""
    from indexer.drift.launch.expansion import split_words

    return iter(split_words(text))
