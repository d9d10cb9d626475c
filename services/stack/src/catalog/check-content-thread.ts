// The thread of check-content.ts: checks the content that it is started with, and ends.
import { parentPort, workerData } from 'node:worker_threads';
import { checkContent } from './check-content.ts';

parentPort?.postMessage(checkContent(workerData));
