// Runs expressions on texts that are made against them, and says which one it begins: whoever waits knows which one does not end.
import { parentPort, workerData } from 'node:worker_threads';
import { attacksOn, type Expression } from './expressions.ts';

const { expressions, length, limitMs } = workerData as {
  readonly expressions: readonly Expression[];
  readonly length: number;
  readonly limitMs: number;
};
for (const [place, expression] of expressions.entries()) {
  const compiled = new RegExp(expression.source, expression.flags);
  for (const attack of attacksOn(expression, length)) {
    parentPort?.postMessage({ place, isSlow: false });
    // Of this thread alone: what else the machine does is not counted.
    const before = process.threadCpuUsage();
    compiled.lastIndex = 0;
    compiled.exec(attack);
    if (process.threadCpuUsage(before).user / 1_000 > limitMs) parentPort?.postMessage({ place, isSlow: true });
  }
}
