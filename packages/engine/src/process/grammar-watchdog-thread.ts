// The watchdog thread: reports to the parent when it finds the same grammar step running in too many consecutive
// checks.
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { GRAMMAR_MS, GRAMMAR_PIPE } from './grammar-watchdog.ts';

/** Counted in checks, not in time: while the machine is suspended, no check runs. */
const CHECKS = 10;

const state = workerData as Int32Array;
let lastStep = 0;
let checks = 0;

setInterval(() => {
  const call = Atomics.load(state, 0);
  const step = Atomics.load(state, 1);
  checks = call !== 0 && step === lastStep ? checks + 1 : 0;
  lastStep = step;
  if (checks === CHECKS) writeSync(GRAMMAR_PIPE, `${call}\n`);
}, GRAMMAR_MS / CHECKS);
