"""Options of other engines that people carry over to SGLang, and SGLang's equivalent.

An entry is used only for a word that SGLang never declared, and its equivalent is named only where
the version judged against has it. ``None``: SGLang needs nothing, or has nothing like it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexer.drift.launch.model import Launch, Word

VLLM: dict[str, str | None] = {
    "--async-scheduling": None,
    "--block-size": "--page-size",
    "--compilation-config": None,
    "--data-parallel-backend": None,
    "--disable-log-requests": None,
    "--disable-log-stats": None,
    "--distributed-executor-backend": None,
    "--enable-auto-tool-choice": None,
    "--enable-chunked-prefill": None,
    "--enable-expert-parallel": "--ep-size",
    "--enable-prefix-caching": None,
    "--enforce-eager": "--disable-cuda-graph",
    "--gpu-memory-utilization": "--mem-fraction-static",
    "--guided-decoding-backend": "--grammar-backend",
    "--hf-overrides": "--json-model-override-args",
    "--kv-transfer-config": "--disaggregation-mode",
    "--limit-mm-per-prompt": "--limit-mm-data-per-request",
    "--max-loras": "--max-loras-per-batch",
    "--max-model-len": "--context-length",
    "--max-num-batched-tokens": "--chunked-prefill-size",
    "--max-num-seqs": "--max-running-requests",
    "--max-seq-len-to-capture": "--cuda-graph-max-bs-decode",
    "--mm-processor-kwargs": "--mm-process-config",
    "--no-enable-chunked-prefill": "--chunked-prefill-size",
    "--no-enable-prefix-caching": "--disable-radix-cache",
    "--num-gpu-blocks-override": "--max-total-tokens",
    "--num-scheduler-steps": None,
    "--num-speculative-tokens": "--speculative-num-draft-tokens",
    "--scheduling-policy": "--schedule-policy",
    "--seed": "--random-seed",
    "--speculative-config": "--speculative-algorithm",
    "--speculative-model": "--speculative-draft-model-path",
    "--swap-space": None,
    "--tokenizer": "--tokenizer-path",
    "--use-v2-block-manager": None,
    "--worker-use-ray": "--use-ray",
}
TENSORRT_LLM: dict[str, str | None] = {
    "--ep_size": "--ep-size",
    "--extra_llm_api_options": None,
    "--kv_cache_free_gpu_memory_fraction": "--mem-fraction-static",
    "--max_batch_size": "--max-running-requests",
    "--max_beam_width": None,
    "--max_num_tokens": "--chunked-prefill-size",
    "--max_seq_len": "--context-length",
    "--pp_size": "--pp-size",
    "--tp_size": "--tp-size",
}
ENGINES = {"vLLM": VLLM, "TensorRT-LLM": TENSORRT_LLM}


_OURS = {ours: theirs for theirs, ours in reversed(VLLM.items()) if ours} | {
    "--speculative-algorithm": "--speculative-config",
    "--speculative-draft-model-path": "--speculative-config",
}


def starts_vllm(launch: Launch) -> bool:
    """Whether a launch of another program's is one of vLLM's."""
    return launch.program == "other-parser" and (launch.entry == "serve" or "vllm" in launch.entry)


def options_of_sglang(
    words: Sequence[Word], spellings: frozenset[str]
) -> Iterator[tuple[Word, str, str | None]]:
    """Yield ``(word, option, vLLM's equivalent)`` for the words that only SGLang's parser knows, as far as we
    know: ``spellings`` are all of SGLang's."""
    for word in words:
        option = word.text.partition("=")[0]
        own = option in _OURS or (option.startswith(("--speculative-", "--mamba-")) and option in spellings)
        if own and option not in GENERIC and option not in VLLM:
            yield word, option, _OURS.get(option)


def engine_of(option: str) -> tuple[str, str | None] | None:
    """Return ``(engine, SGLang's equivalent)`` of an option that another engine has, else None."""
    dashed = option.replace("_", "-")
    for engine, options in ENGINES.items():
        for known in (option, dashed):
            if known in options:
                return engine, options[known]
    return None


DISTINCTIVE = frozenset(
    {
        "--mem-fraction-static",
        "--schedule-conservativeness",
        "--speculative-algorithm",
        "--speculative-draft-model-path",
        "--speculative-eagle-topk",
        "--speculative-num-draft-tokens",
        "--speculative-num-steps",
    }
)
"""Options by which a list is SGLang's, whatever else stands in it."""

GENERIC = frozenset(
    {
        "--api-key",
        "--attention-backend",
        "--batch-size",
        "--chat-template",
        "--config",
        "--context-length",
        "--data-parallel-size",
        "--device",
        "--download-dir",
        "--dp",
        "--dtype",
        "--enable-lora",
        "--enable-metrics",
        "--host",
        "--kv-cache-dtype",
        "--load-format",
        "--log-level",
        "--lora-paths",
        "--max-lora-rank",
        "--max-total-tokens",
        "--model",
        "--model-path",
        "--nnodes",
        "--node-rank",
        "--pipeline-parallel-size",
        "--port",
        "--quantization",
        "--random-seed",
        "--reasoning-parser",
        "--revision",
        "--served-model-name",
        "--tensor-parallel-size",
        "--tokenizer-mode",
        "--tokenizer-path",
        "--tool-call-parser",
        "--tp",
        "--tp-size",
        "--trust-remote-code",
    }
)
"""Options that other engines and programs share: they say nothing about whose list it is."""
