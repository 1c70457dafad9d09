// Joust as a library: choose two models for a question, show both answers, and learn from the vote.
import { createPolicy, encoderPlaces, joust, openEncoder, Random, Router } from "joust";

const models = ["small", "large"];
const categories = ["mathematics", "poetry"];
const encoder = await openEncoder("static", encoderPlaces());
const centroids = await encoder.encode(categories); // better: means over example questions
const router = new Router(createPolicy(joust, { models, categories, centroids }));
const random = Random.seeded(1);

const [x] = await encoder.encode(["What is the square root of 289?"]);
const decision = router.route({ x: x!, candidates: [0, 1], answers: 2 }, random.split("route"));
console.log(`ask ${decision.pair.map((k) => models[k]).join(" and ")}`);
router.vote(decision, "a", random.split("vote")); // the first answer is better
await encoder.close();
