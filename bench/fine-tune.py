"""Fine-tunes a BERT encoder with CCFT in PyTorch, like sentence-transformers with CosineSimilarityLoss:
the left and the right texts of a batch are each padded to the longest text and encoded. Prints the
seconds, the CPU seconds, the losses and the peak memory."""

import json
import resource
import sys
import time

import torch
from transformers import AutoModel, AutoTokenizer

folder, offline, trajectory = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModel.from_pretrained(folder).eval()  # no dropout
queries = [json.loads(line)["query"] for line in open(offline, encoding="utf8")]
golden = json.load(open(trajectory, encoding="utf8"))
settings, batches = golden["settings"], golden["batches"]

plain = lambda name: "bias" in name or "LayerNorm" in name
parameters = [(n, p) for n, p in model.named_parameters() if not n.startswith("pooler")]
optimizer = torch.optim.AdamW(
    [
        {"params": [p for n, p in parameters if not plain(n)], "weight_decay": settings["weight_decay"]},
        {"params": [p for n, p in parameters if plain(n)], "weight_decay": 0.0},
    ],
    lr=settings["lr"],
)


def encode(texts):
    inputs = tokenizer(
        texts, padding="longest", truncation=True, max_length=settings["max_length"], return_tensors="pt"
    )
    tokens = model(**inputs).last_hidden_state
    mask = inputs["attention_mask"].unsqueeze(-1).float()
    return (tokens * mask).sum(1) / mask.sum(1)


losses = []
steps, warm_up = len(batches), settings["warmup_steps"]
begin, begin_cpu = time.perf_counter(), time.process_time()
for step, batch in enumerate(batches):
    share = step / warm_up if step < warm_up else (steps - step) / (steps - warm_up)
    for group in optimizer.param_groups:
        group["lr"] = settings["lr"] * share
    left, right = encode([queries[i] for i, _, _ in batch]), encode([queries[j] for _, j, _ in batch])
    cosine = torch.nn.functional.cosine_similarity(left, right)
    loss = torch.nn.functional.mse_loss(cosine, torch.tensor([float(label) for _, _, label in batch]))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([p for _, p in parameters], settings["clip_global_norm"])
    optimizer.step()
    losses.append(loss.item())
seconds, cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"seconds": seconds, "cpu": cpu, "losses": losses, "peak": peak}))
