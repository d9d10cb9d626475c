// The thread that looks on: counts how often in a row it finds the same step of a grammar under way, and tells the parent of it.
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { GRAMMAR_MS, GRAMMAR_PIPE } from './grammar-watchdog.ts';

/** Counted in looks, not in time: where the machine stands still, it looks at nothing. */
const LOOKS = 10;

const state = workerData as Int32Array;
let seen = 0;
let looks = 0;

setInterval(() => {
  const call = Atomics.load(state, 0);
  const step = Atomics.load(state, 1);
  looks = call !== 0 && step === seen ? looks + 1 : 0;
  seen = step;
  if (looks === LOOKS) writeSync(GRAMMAR_PIPE, `${call}\n`);
}, GRAMMAR_MS / LOOKS);
