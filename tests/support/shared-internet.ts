// One small simulated internet for all test files of a process: it costs the most of what a service needs.
import { smallInternet } from '../../services/stack/src/test/harness.ts';
import { shared } from './shared.ts';

/** Forty companies. A test that moves companies takes those that it moves from what `moveDns` returns. */
export const sharedInternet = shared(smallInternet);
