#!/usr/bin/env python3
"""Writes the lists of settings that launch/ checks a trainer's configuration by.

Run it with the Python that has the trainer installed; no GPU is needed:

    VENV/bin/python trainer_keys.py llamafactory|swift|trl|axolotl

It writes launch/NAME_keys.txt; git diff then shows what a new version changed.

A line is: name, kinds, and the commands that have it where not all do; tab
separated, sorted. Kinds, joined by commas, are int, float, bool, str, list, dict,
any and null; what stands behind = is every text the setting takes, joined by |.
Texts come from the annotations, and for settings that are plain strings there but
not to the program from the tables the program looks them up in.
"""
import dataclasses
import enum
import importlib.metadata
import os
import pathlib
import pkgutil
import sys
import types
import typing

os.environ.update(HF_HUB_OFFLINE="1", AXOLOTL_DO_NOT_TRACK="1", DO_NOT_TRACK="1", DISABLE_VERSION_CHECK="1", CUDA_VISIBLE_DEVICES="")


def kinds(a, words=()):
    """The kinds and the texts of an annotation."""
    k, w = set(), set(words)

    def visit(a):
        origin = typing.get_origin(a)
        if a is None or a is type(None):
            k.add("null")
        elif origin is typing.Annotated:
            visit(typing.get_args(a)[0])
        elif origin is typing.Literal:
            for v in typing.get_args(a):
                if v is None:
                    k.add("null")
                elif isinstance(v, bool):
                    k.add("bool")
                elif isinstance(v, int):
                    k.add("int")
                    w.add(str(v))
                else:
                    w.add(str(v))
        elif origin in (typing.Union, types.UnionType):
            args = typing.get_args(a)
            enums = [x for x in args if isinstance(x, type) and issubclass(x, enum.Enum)]
            for x in args:
                if enums and (x is str or typing.get_origin(x) is typing.Annotated and typing.get_args(x)[0] is str):
                    continue  # "Enum | str" takes the enum's texts only
                visit(x)
        elif origin in (list, tuple, set) or a in (list, tuple, set):
            k.add("list")
        elif origin is dict or a is dict:
            k.add("dict")
        elif isinstance(a, type) and issubclass(a, enum.Enum):
            w.update(str(m.value) for m in a)
        elif a in (int, float, bool, str):
            k.add(a.__name__)
        elif a is typing.Any or isinstance(a, str):
            k.add("any")
        else:  # a model of its own
            k.add("dict")

    visit(a)
    if w and "str" in k and not words:
        w = set()  # any text is taken
    k.discard("str" if w else "")
    if w:
        k.discard("int")
    return ",".join(sorted(k)) + ("=" + "|".join(sorted(w)) if w else "")


def fields(*classes):
    for c in classes:
        hints = typing.get_type_hints(c)
        for f in dataclasses.fields(c):
            if f.init:
                yield f.name, hints[f.name]


def huggingface():
    """The tables of transformers that training arguments are looked up in."""
    from transformers.integrations import integration_utils
    from transformers.trainer_utils import SchedulerType
    return {"report_to": [*integration_utils.INTEGRATION_TO_CALLBACK, "all", "none"], "lr_scheduler_type": [x.value for x in SchedulerType]}


DTYPES = ["auto", "bfloat16", "float16", "float32"]


def llamafactory():
    from llamafactory.data.template import TEMPLATES
    from llamafactory.hparams import DataArguments, FinetuningArguments, GeneratingArguments, ModelArguments, TrainingArguments
    words = {**huggingface(), "template": sorted(TEMPLATES)}
    classes = ModelArguments, DataArguments, TrainingArguments, FinetuningArguments, GeneratingArguments
    yield from ((n, a, words.get(n, ()), "") for n, a in fields(*classes))


def swift():
    from swift.arguments import PretrainArguments, RLHFArguments, SftArguments, get_supported_tuners
    from swift.loss_scale import loss_scale_map
    from swift.template import TEMPLATE_MAPPING
    from swift.model import MODEL_MAPPING
    words = {**huggingface(), "tuner_type": sorted(get_supported_tuners()), "template": sorted(map(str, TEMPLATE_MAPPING)),
             "model_type": sorted(map(str, MODEL_MAPPING)), "torch_dtype": DTYPES[1:]}
    words["loss_scale"] = [*loss_scale_map, "default", "last_round", "all"]  # the three: swift/loss_scale/mapping.py
    by = {}
    for command, c in (("pt", PretrainArguments), ("sft", SftArguments), ("rlhf", RLHFArguments)):
        for n, a in fields(c):
            by.setdefault(n, [a, []])[1].append(command)
    for n, (a, commands) in by.items():
        yield n, a, words.get(n, ()), "" if len(commands) == 3 else ",".join(commands)


def trl():
    from trl import DatasetMixtureConfig, DPOConfig, ModelConfig, ScriptArguments, SFTConfig
    words = {**huggingface(), "dtype": DTYPES, "truncation_mode": ["keep_end", "keep_start"]}  # trl/trainer/sft_trainer.py, dpo_trainer.py
    by = {}
    for command, c in (("sft", SFTConfig), ("dpo", DPOConfig)):
        for n, a in fields(ScriptArguments, c, ModelConfig, DatasetMixtureConfig):
            by.setdefault(n, [a, []])[1].append(command)
    for n, (a, commands) in by.items():
        yield n, a, words.get(n, ()), "" if len(commands) == 2 else ",".join(commands)
    yield "config", str, (), ""
    yield "env", dict, (), ""
    from trl.scripts.utils import DatasetConfig
    for n, a in fields(DatasetConfig):
        yield "datasets[]." + n, a, (), ""


def axolotl():
    import axolotl.prompt_strategies as strategies
    import axolotl.utils.schemas.datasets as datasets
    from axolotl.utils.schemas.config import AxolotlConfigWCapabilities
    from axolotl.utils.schemas.enums import CustomSupportedOptimizers
    from transformers.trainer_utils import SchedulerType
    from transformers.training_args import OptimizerNames
    from pydantic import BaseModel
    words = {
        "optimizer": sorted({x.value for x in OptimizerNames} | {x.value for x in CustomSupportedOptimizers}),
        "lr_scheduler": sorted({x.value for x in SchedulerType} | {"one_cycle", "rex"}),  # the two: axolotl/core/builders/base.py
        "adapter": ["llama-adapter", "lora", "qlora"],
    }
    for n, f in AxolotlConfigWCapabilities.model_fields.items():
        yield n, f.annotation, words.get(n, ()), ""
        if f.alias and f.alias != n:
            yield f.alias, f.annotation, (), ""
    seen = {}
    for c in vars(datasets).values():
        if isinstance(c, type) and issubclass(c, BaseModel) and c.__module__ == datasets.__name__ and c.__name__ in ("SFTDataset", "PretrainingDataset", "DPODataset", "KTODataset", "StepwiseSupervisedDataset"):
            for n, f in c.model_fields.items():
                seen.setdefault(n, []).append(f.annotation)
    kinds_of_rows = [m.name for m in pkgutil.iter_modules(strategies.__path__) if not m.name.startswith("_")]
    for n, all_ in seen.items():
        yield "datasets[]." + n, typing.Union[tuple(all_)], kinds_of_rows if n == "type" else (), ""


def main():
    name = sys.argv[1]
    program = {"swift": "ms-swift"}.get(name, name)
    lines = {}
    for n, a, words, commands in globals()[name]():
        line = n + "\t" + kinds(a, words) + ("\t" + commands if commands else "")
        lines.setdefault(n, line)
    head = f"# {program} {importlib.metadata.version(program)}, transformers {importlib.metadata.version('transformers')}; made by scripts/interop/trainer_keys.py"
    out = pathlib.Path(__file__).resolve().parent.parent.parent / "launch" / f"{name}_keys.txt"
    out.write_text("\n".join([head, *(lines[n] for n in sorted(lines))]) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())
