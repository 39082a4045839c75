"""File, environment and flags: which one wins, and how each tells what is wrong with it."""

from pathlib import Path

import pytest

from penstock.settings import ConfigurationError, load
from tests.support.settings_files import Configuration


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    return Configuration(tmp_path)


def test_environment_overrides_file_and_flags_override_both(configuration: Configuration) -> None:
    """YAML < environment < flags, key by key."""
    settings = configuration.load(
        "worker: {count: 2, concurrency: 2, max_retries: 2}",
        {"PENSTOCK_WORKER_CONCURRENCY": "3", "WORKER_MAX_RETRIES": "3"},
        {"worker.max_retries": 4},
    )

    worker = settings.worker
    assert (worker.count, worker.concurrency, worker.max_retries) == (2, 3, 4)


def test_a_wrong_value_is_refused_even_if_overridden(configuration: Configuration) -> None:
    """A mistake does not hide behind a later source."""
    problems = configuration.refused("worker: {count: many}", {"WORKER_COUNT": "3"})

    assert [problem.key for problem in problems] == ["worker.count"]


def test_all_problems_are_told_together(configuration: Configuration) -> None:
    """One load reports the faults of every source, each with key, source, fault and remedy."""
    problems = configuration.refused(
        "worker:\n  count: none\n  lease: soon\n",
        {"PENSTOCK_LIMITS_BULK": "0"},
        {"profile": "staging"},
    )

    path = configuration.path
    assert [(problem.key, problem.source) for problem in problems] == [
        ("worker.count", f"{path}, line 2"),
        ("worker.lease", f"{path}, line 3"),
        ("limits.bulk", "environment variable PENSTOCK_LIMITS_BULK"),
        ("profile", "flag profile"),
    ]
    assert str(problems[0]) == (
        f"worker.count ({path}, line 2): 'none' is not a whole number; give a whole number from 1 to 1024"
    )
    assert problems[3].right == "give development or production"


def test_unknown_key_is_refused_with_a_suggestion(configuration: Configuration) -> None:
    """A misspelt key names its line and the key that was meant."""
    problems = configuration.refused("worker:\n  cuont: 3\nheartbeat_ttl: 9s\n")

    told = [(problem.key, problem.source, problem.right) for problem in problems]
    assert told == [
        ("worker.cuont", f"{configuration.path}, line 2", "did you mean worker.count?"),
        ("heartbeat_ttl", f"{configuration.path}, line 3", "did you mean worker.heartbeat_ttl?"),
    ]


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("worker:\n  count: 1\n  count: 2\n", "worker.count", 3),
        ("worker: {count: 1}\ndata: x\nworker: {lease: 5m}\n", "worker", 3),
        ("worker:\n  queues: {high: a, high: b, normal: c, low: d}\n", "worker.queues", 2),
        ("worker: {backoff: {base: 1s, base: 2s, max: 3s}}\n", "worker.backoff.base", 1),
    ],
)
def test_key_given_twice_is_refused(configuration: Configuration, text: str, key: str, line: int) -> None:
    """A repeated key is a mistake at any depth, also one that YAML itself would let pass."""
    problems = configuration.refused(text)

    assert [(problem.key, problem.source) for problem in problems] == [
        (key, f"{configuration.path}, line {line}")
    ]
    assert problems[0].right == "keep one of the two"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("- worker\n", "a list stands here"),
        ("worker\n", "a single value stands here"),
        ("worker: [\n", "this is not YAML"),
        ("a: 1\n---\nb: 2\n", "this is not YAML"),
        (b"data: \xff\n", "byte 6 is not UTF-8"),
        ("data: \x00\n", "this is not YAML"),
        ("[" * 50_000, "the file is nested too deep"),
        ("#" * (1 << 20) + "\n", "the file is larger than 1048576 bytes"),
    ],
)
def test_file_that_is_no_mapping_is_refused(
    configuration: Configuration, text: str | bytes, wrong: str
) -> None:
    """Whatever stands in the file instead of a YAML mapping is told as one problem of the file."""
    problems = configuration.refused(text)

    assert len(problems) == 1
    assert problems[0].key == "(whole file)"
    assert problems[0].source.startswith(str(configuration.path))
    assert problems[0].wrong.startswith(wrong)


def test_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    """A path that exists and cannot be read as a file is an error, not "missing"."""
    with pytest.raises(ConfigurationError, match="the file cannot be read") as caught:
        load(tmp_path, {}, {})

    assert caught.value.problems[0].source == str(tmp_path)


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "worker:\n", "worker: {count: null}\n", "{}"])
def test_nothing_given_means_defaults(configuration: Configuration, text: str) -> None:
    """Empty files, empty sections and nulls give nothing."""
    assert configuration.load(text).worker.count == 1


def test_byte_order_mark_is_no_part_of_the_first_key(configuration: Configuration) -> None:
    """A file some editor saved with a mark reads like any other."""
    assert configuration.load(b"\xef\xbb\xbfworker: {count: 2}").worker.count == 2


@pytest.mark.parametrize(
    "text",
    ["worker: &w {queues: *w}\n", "worker: {queues: &q {high: *q}}\n", "data: !!python/name:os.system x\n"],
)
def test_yaml_tricks_build_nothing(configuration: Configuration, text: str) -> None:
    """Aliases in a circle and tags end as problems, never as objects or endless loops."""
    assert configuration.refused(text)


def test_section_given_as_a_value_is_refused(configuration: Configuration) -> None:
    """A section must be a mapping."""
    (problem,) = configuration.refused("redis: redis://:hunter2@cache:6379\n")

    assert (problem.key, problem.wrong) == ("redis", "a single value stands here")


@pytest.mark.parametrize("name", ["PENSTOCK_WORKER_BACKOFF_BASE", "WORKER_BACKOFF_BASE"])
def test_both_forms_of_a_variable_are_read(configuration: Configuration, name: str) -> None:
    """A documented key comes by its prefixed and by its bare variable."""
    settings = configuration.load("worker: {backoff: {max: 1m}}", {name: "2s"})

    assert settings.worker.backoff is not None
    assert settings.worker.backoff.base == 2.0


def test_variables_that_disagree_are_refused(configuration: Configuration) -> None:
    """Two forms with two values leave no way to guess; with one value they are fine."""
    both = {"PENSTOCK_WORKER_COUNT": "2", "WORKER_COUNT": "2"}
    assert configuration.load("", both).worker.count == 2

    (problem,) = configuration.refused("", {**both, "WORKER_COUNT": "3"})
    assert problem.key == "worker.count"
    assert problem.source == "environment variables PENSTOCK_WORKER_COUNT and WORKER_COUNT"


def test_bare_name_of_an_own_key_is_not_ours(configuration: Configuration) -> None:
    """Names an ordinary environment may hold are read only where the contract documents them."""
    ordinary = {"DATA": "x", "QUEUE": "y", "REDIS_URL": "z", "WORKER_CONCURRENCY": "a", "DATABASE": "b"}
    kubernetes = {
        "PENSTOCK_PORT": "tcp://10.0.0.1:80",
        "PENSTOCK_WORKER_PORT": "tcp://10.0.0.2:80",
        "PENSTOCK_PORT_80_TCP_ADDR": "10.0.0.1",
        "PENSTOCK_SERVICE_HOST": "10.0.0.1",
    }

    assert configuration.load("", {**ordinary, **kubernetes}) == configuration.load()


def test_unknown_prefixed_variable_is_refused(configuration: Configuration) -> None:
    """A misspelt variable of ours is an error that names the one that was meant."""
    (problem,) = configuration.refused("", {"PENSTOCK_WORKER_CUONT": "3"})

    assert problem.source == "environment variable PENSTOCK_WORKER_CUONT"
    assert problem.right == "did you mean PENSTOCK_WORKER_COUNT?"


def test_variables_read_elsewhere_are_left_alone(configuration: Configuration) -> None:
    """The command line's and the test suite's own variables are no keys."""
    others = {"PENSTOCK_CONFIG": "x.yaml", "PENSTOCK_TEST_REDIS": "redis://x", "PENSTOCK_SWEEP": "1"}

    assert configuration.load("", others) == configuration.load()


def test_empty_variable_is_not_set(configuration: Configuration) -> None:
    """Compose files pass empty variables on for what nobody set."""
    assert configuration.load("worker: {count: 2}", {"PENSTOCK_WORKER_COUNT": ""}).worker.count == 2


def test_lists_and_mappings_in_variables(configuration: Configuration) -> None:
    """Commas separate the items of a list, JSON writes a mapping."""
    settings = configuration.load(
        "",
        {
            "WORKER_PRIORITIES": "urgent, low",
            "WORKER_QUEUES": '{"urgent": "q:1", "low": "q:2"}',
            "PENSTOCK_WORKER_RETRY_DELAYS": "1s,2s",
            "PENSTOCK_WORKER_TIMEOUTS": '{"file": "2h"}',
            "PENSTOCK_WORKER_LEASES": '{"folder": "10m", "rename": 30}',
        },
    )

    worker = settings.worker
    assert worker.priorities == ("urgent", "low")
    assert worker.queues == {"urgent": "q:1", "low": "q:2"}
    assert worker.retry_delays == (1.0, 2.0)
    assert [worker.lease_for(kind) for kind in ("folder", "rename", "file")] == [600.0, 30.0, 300.0]
    assert [worker.timeout_for(kind) for kind in ("file", "content")] == [7200.0, 3600.0]


@pytest.mark.parametrize("text", ["high=a", "[1]", '"x"', '{"high": "a", "high": "b"}', "{" * 100_000])
def test_mapping_that_is_no_json_object_is_refused(configuration: Configuration, text: str) -> None:
    """Anything but a JSON object with distinct names names the variable."""
    (problem,) = configuration.refused("", {"WORKER_QUEUES": text})

    assert (problem.key, problem.source) == ("worker.queues", "environment variable WORKER_QUEUES")


def test_flags_take_text_and_values(configuration: Configuration) -> None:
    """A flag may carry what was typed or what the command line made of it; None was not used."""
    settings = configuration.load(
        flags={
            "worker.count": "3",
            "worker.lease": 60,
            "data": Path("elsewhere"),
            "worker.priorities": "high,low",
            "producer.include_globs": ("*.md",),
            "profile": None,
        }
    )

    assert (settings.worker.count, settings.worker.lease) == (3, 60.0)
    assert (settings.data, settings.profile) == (Path("elsewhere"), "development")
    assert settings.worker.priorities == ("high", "low")
    assert settings.producer.include_globs == ("*.md",)


@pytest.mark.parametrize("key", ["worker.cuont", "worker", "worker.backoff"])
def test_flag_for_no_key_is_refused(configuration: Configuration, key: str) -> None:
    """A flag names a key of the tree, not a section and not a misspelling."""
    (problem,) = configuration.refused(flags={key: "1"})

    assert (problem.key, problem.source) == (key, f"flag {key}")
