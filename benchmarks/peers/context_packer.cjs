// The npm package, warm, in its own process: one JSON command a line, one JSON answer a line.
//   {"load": file}   the input: {kind: "pack" | "dedup", chunks, options}
//   {"call": true}   one call; answers its seconds and what was chosen
//   {"clock": n}     n calls; answers their seconds together
"use strict";
const fs = require("fs");
const path = require("path");
const readline = require("readline");

const root = process.argv[2];
const { pack } = require(root);
const { deduplicateChunks } = require(path.join(root, "dist", "redundancy.js"));

let job = null;

async function once() {
  if (job.kind === "dedup") {
    return deduplicateChunks(job.chunks, job.options.threshold, job.options.metric);
  }
  return pack(job.chunks, job.options);
}

function chosen(result) {
  if (job.kind === "dedup") {
    return result.excluded.map((out) => [out.id, out.redundantWith, out.similarity]);
  }
  return result.chunks.map((chunk) => chunk.id);
}

async function answer(command) {
  if (command.load) {
    job = JSON.parse(fs.readFileSync(command.load, "utf8"));
    return { loaded: job.chunks.length };
  }
  const number = command.clock || 1;
  let result = null;
  const began = process.hrtime.bigint();
  for (let i = 0; i < number; i++) result = await once();
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  return command.call ? { seconds, chosen: chosen(result) } : { seconds };
}

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
  }
})();
