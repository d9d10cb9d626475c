// Runs each expression on texts that are slow for it, and reports which one it starts.
import { parentPort, workerData } from 'node:worker_threads';
import { attacksOn, type Expression } from './expressions.ts';

const { expressions, length, limitMs } = workerData as {
  readonly expressions: readonly Expression[];
  readonly length: number;
  readonly limitMs: number;
};
for (const [index, expression] of expressions.entries()) {
  const compiled = new RegExp(expression.source, expression.flags);
  for (const attack of attacksOn(expression, length)) {
    parentPort?.postMessage({ index, isSlow: false });
    // Of this thread alone: what else the machine does is not counted.
    const before = process.threadCpuUsage();
    compiled.lastIndex = 0;
    compiled.exec(attack);
    if (process.threadCpuUsage(before).user / 1_000 > limitMs) parentPort?.postMessage({ index, isSlow: true });
  }
}
