"""Times sentence-transformers: encode.py MODEL THREADS.

Reads one JSON object per line, {"texts": [..], "batch": n}, and prints the seconds that encoding took.
A batch of 1 means one call per text.
"""
import json
import sys
import time

import torch
from sentence_transformers import SentenceTransformer

torch.set_num_threads(int(sys.argv[2]))
model = SentenceTransformer(sys.argv[1], device="cpu")
print(json.dumps(torch.__version__), flush=True)
for line in sys.stdin:
    job = json.loads(line)
    texts, batch = job["texts"], job["batch"]
    calls = [[text] for text in texts] if batch == 1 else [texts]
    start = time.perf_counter()
    for call in calls:
        model.encode(call, batch_size=batch, show_progress_bar=False)
    print(json.dumps(time.perf_counter() - start), flush=True)
