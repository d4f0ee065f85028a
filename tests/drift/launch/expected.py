"""What each launch fixture gives: (versions, findings in reading order, what is unread)."""

from __future__ import annotations

EXPECTED: dict[str, tuple[str, list[str], list[str]]] = {
    "Dockerfile.exec": (
        "0.5.23",
        ["5:5 stale-env SGLANG_ENABLE_SPEC_V2", "10:61 ambiguous-flag --cuda-graph-max-bs"],
        [],
    ),
    "Dockerfile.shell": ("0.5.12", ["6:5 future-flag --mamba-radix-cache-strategy"], []),
    "Makefile.fixture.mk": ("0.5.23", ["4:2 renamed-flag --mamba-scheduler-strategy"], []),
    "args_file.env": (
        "0.5.23",
        ["2:52 renamed-flag --mamba-scheduler-strategy", "4:1 stale-env SGLANG_ENABLE_SPEC_V2"],
        [],
    ),
    "bench_embeds.sh": (
        "0.5.23",
        ["3:98 abbreviated-flag --tp", "4:98 renamed-flag --mamba-scheduler-strategy"],
        [],
    ),
    "binary.sh": ("", [], ["binary"]),
    "bom_and_unicode.sh": (
        "0.5.23",
        ["1:48 removed-flag --enable-ep-moe", "3:32 renamed-flag --mamba-scheduler-strategy"],
        [],
    ),
    "bomb.yaml": ("0.5.23", ["6:68 removed-flag --enable-ep-moe"], []),
    "branches.sh": ("0.5.23", ["6:39 removed-flag --speculative-ngram-branch-length"], []),
    "broken.py": ("0.5.23", ["3:83 renamed-flag --mamba-scheduler-strategy"], []),
    "broken.sh": ("0.5.23", ["3:47 renamed-flag --mamba-scheduler-strategy"], []),
    "broken.yaml": (
        "0.5.23",
        ["4:61 removed-flag --enable-ep-moe"],
        ["not valid YAML or JSON at line 8: read up to there"],
    ),
    "compose_mixed_engines.yaml": (
        "0.5.23",
        ["10:9 wrong-engine-flag --max-model-len", "12:9 stale-env SGLANG_ENABLE_SPEC_V2"],
        [],
    ),
    "compose_string.yml": (
        "0.5.9",
        ["4:63 future-flag --mamba-radix-cache-strategy", "4:105 abbreviated-flag --tp"],
        [],
    ),
    "configmap_server_config.yaml": (
        "0.5.18",
        ["9:5 config-key-refused cuda-graph-max-bs-decode", "10:5 config-key-refused lora-paths"],
        [],
    ),
    "crlf.sh": ("0.5.23", ["4:3 renamed-flag --mamba-scheduler-strategy", "5:3 abbreviated-flag --tp"], []),
    "diffusion.sh": ("0.5.23", ["3:40 renamed-flag --mamba-scheduler-strategy"], []),
    "docker_run.sh": (
        "0.5.9",
        [
            "4:77 future-flag --mamba-radix-cache-strategy",
            "4:111 abbreviated-flag --tp",
            "5:72 future-flag --cuda-graph-max-bs-decode",
            "6:72 invalid-choice auto",
        ],
        [],
    ),
    "dynamo.sh": ("0.5.23", ["2:41 abbreviated-flag --tp", "3:72 removed-flag --enable-ep-moe"], []),
    "empty.sh": ("", [], []),
    "functions.sh": (
        "0.5.23",
        ["9:14 abbreviated-flag --tp", "9:21 renamed-flag --mamba-scheduler-strategy"],
        [],
    ),
    "guide.md": (
        "0.5.23",
        [
            "7:40 renamed-flag --mamba-scheduler-strategy",
            "16:53 ambiguous-flag --cuda-graph-max-bs",
            "20:76 removed-flag --enable-ep-moe",
            "26:37 unknown-keyword speculative_draft_model",
            "33:51 unknown-flag --tp_size",
        ],
        [],
    ),
    "helm_deployment.yaml": ("0.5.23", ["25:15 renamed-flag --mamba-scheduler-strategy"], []),
    "helm_values.yaml": ("0.5.20", ["8:5 ambiguous-flag --cuda-graph-max-bs"], []),
    "heredoc.sbatch": (
        "0.5.23",
        [
            "7:55 abbreviated-flag --tp",
            "8:60 removed-flag --enable-ep-moe",
            "12:72 abbreviated-flag --mem-frac",
            "15:29 ambiguous-flag --cuda-graph-bs",
        ],
        [],
    ),
    "ignore_comments.sh": (
        "0.5.23",
        [
            "3:3 renamed-flag --mamba-scheduler-strategy",
            "4:3 ambiguous-flag --cuda-graph-max-bs",
            "5:47 removed-flag --enable-ep-moe",
            "6:47 removed-flag --enable-ep-moe",
            "7:47 abbreviated-flag --tp",
        ],
        [],
    ),
    "jinja.sbatch.j2": ("0.5.23", ["5:32 renamed-flag --mamba-scheduler-strategy"], []),
    "k8s_deployment.yaml": (
        "0.5.23",
        ["19:16 renamed-flag --mamba-scheduler-strategy", "24:21 stale-env SGLANG_ENABLE_SPEC_V2"],
        [],
    ),
    "k8s_shell_script.yaml": (
        "0.5.17",
        [
            "15:13 abbreviated-flag --tp",
            "16:13 deprecated-flag --cuda-graph-max-bs",
            "17:13 removed-flag --enable-ep-moe",
        ],
        [],
    ),
    "kustomize_patch.yaml": ("0.5.23", ["7:7 renamed-flag --mamba-scheduler-strategy"], []),
    "latin1.sh": ("", [], ["not UTF-8 (byte 47)"]),
    "launch.json": (
        "0.5.23",
        ["9:56 ambiguous-flag --cuda-graph-max-bs", "10:16 stale-env SGLANG_ENABLE_SPEC_V2"],
        [],
    ),
    "launcher.py": (
        "0.5.23",
        [
            "20:10 renamed-flag --mamba-scheduler-strategy",
            "32:74 ambiguous-flag --cuda-graph-max-bs",
            "34:84 removed-flag --enable-ep-moe",
            "38:56 unknown-keyword speculative_draft_model",
            "39:27 unknown-keyword mamba_scheduler_strategy",
            "41:20 unknown-keyword context_len",
        ],
        [],
    ),
    "lws.yaml": (
        "0.5.23",
        [
            "18:17 abbreviated-flag --tp",
            "26:17 ambiguous-flag --cuda-graph-bs",
            "41:18 invalid-value sixteen",
        ],
        [],
    ),
    "notebook.ipynb": (
        "0.5.23",
        [
            "10:52 removed-flag --enable-ep-moe",
            "35:7 ambiguous-flag --cuda-graph-max-bs",
            "45:51 renamed-flag --mamba-scheduler-strategy",
        ],
        [],
    ),
    "other_args_test.py": (
        "0.5.23",
        [
            "18:10 ambiguous-flag --cuda-graph-bs",
            "33:26 abbreviated-flag --tp",
            "33:39 renamed-flag --disable-piecewise-cuda-graph",
        ],
        [],
    ),
    "other_engines.py": ("", [], []),
    "page.mdx": ("0.5.23", ["9:3 renamed-flag --mamba-scheduler-strategy"], []),
    "params.json": (
        "0.5.23",
        ["3:56 stale-env SGLANG_ENABLE_SPEC_V2", "4:63 ambiguous-flag --speculative-draft"],
        [],
    ),
    "quoting.sh": ("0.5.23", [], []),
    "recipe_two_roles.yaml": (
        "0.5.23",
        ["9:7 removed-flag enable-ep-moe", "14:7 ambiguous-flag cuda-graph-bs"],
        [],
    ),
    "recursion.sh": (
        "0.5.23",
        ["1:7 ambiguous-flag --a", "2:7 ambiguous-flag --b", "8:53 abbreviated-flag --mem-frac"],
        [],
    ),
    "router.sh": ("0.5.23", ["1:124 removed-flag --enable-ep-moe"], []),
    "serve.just": ("0.5.23", ["3:11 ambiguous-flag --cuda-graph-bs"], []),
    "server_args.py": ("0.5.23", ["7:5 unknown-keyword tensor_parallel_size"], []),
    "server_config.yaml": (
        "0.5.23",
        [
            "5:1 config-key-refused lora-paths",
            "6:1 config-key-refused disable-cuda-graph",
            "6:1 deprecated-flag disable-cuda-graph",
        ],
        [],
    ),
    "sglang.service": (
        "0.5.23",
        ["6:14 stale-env SGLANG_ENABLE_SPEC_V2", "10:3 renamed-flag --disable-piecewise-cuda-graph"],
        [],
    ),
    "truncated.json": ("", [], ["not valid YAML or JSON at line 2: read up to there"]),
    "values_and_types.sh": (
        "0.5.23",
        [
            "1:57 invalid-value 2.5",
            "1:83 invalid-value 90%",
            "1:87 missing-value --port",
            "2:21 invalid-choice lpn",
            "2:45 invalid-value true",
            "3:20 invalid-value 1",
            "3:22 duplicate-flag --tp-size",
            "3:34 missing-value --log-level",
        ],
        [],
    ),
    "vllm_config.yaml": ("", [], []),
    "workflow.yml": (
        "0.5.23",
        ["15:11 stale-env SGLANG_ENABLE_SPEC_V2", "20:13 abbreviated-flag --speculative-num-draft-token"],
        [],
    ),
    "wrong_engine.sh": (
        "0.5.23",
        [
            "1:42 wrong-engine-flag --max-num-seqs",
            "1:59 wrong-engine-flag --enforce_eager",
            "1:75 unknown-flag --tensor_parallel_size",
            "1:100 wrong-engine-flag --max_seq_len",
            "1:116 wrong-engine-flag --seed",
        ],
        [],
    ),
}
