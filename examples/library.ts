// Joust as a library: choose two models for a question, show both answers, and learn from the vote.
import { createPolicy, encoderPlaces, openEncoder, POLICIES, Random, Router } from "joust";

const encoder = await openEncoder("static", encoderPlaces());
const kind = POLICIES.find(({ name }) => name === "joust")!;
const categories = ["mathematics", "poetry"];
const centroids = await encoder.encode(categories);
const router = new Router(
  createPolicy(kind, { models: ["small", "large"], categories, centroids }),
);
const random = Random.seeded(1);

const [x] = await encoder.encode(["What is the square root of 289?"]);
const decision = router.route({ x: x!, candidates: [0, 1], answers: 2 }, random);
console.log(`models ${decision.pair.join(" and ")}`);
router.vote(decision, "a", random); // the first answer is better
await encoder.close?.();
