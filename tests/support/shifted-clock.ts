// Loaded into a process under test: its wall clock is off by as many milliseconds as the file of `TEST_CLOCK_FILE` says, from the moment
// when it says so, or as `TEST_CLOCK_OFFSET_MS` says. Timers and the steady clock go on, as they do where a clock is set.
import { readFileSync } from 'node:fs';

const file = process.env.TEST_CLOCK_FILE ?? '';
let offsetMs = Number(process.env.TEST_CLOCK_OFFSET_MS ?? 0);
const read = () => {
  try {
    offsetMs = Number(readFileSync(file, 'utf8'));
  } catch {
    // There is no file yet: the clock is right.
  }
};
read();
setInterval(read, 20).unref();

const RealDate = Date;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, as) =>
    Reflect.construct(target, given.length === 0 ? [RealDate.now() + offsetMs] : given, as) as object,
  apply: () => new Date().toString(),
  get: (target, name) => (name === 'now' ? () => RealDate.now() + offsetMs : Reflect.get(target, name)),
});
