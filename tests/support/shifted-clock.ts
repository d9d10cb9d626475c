// Loaded into a process under test: its wall clock is off by as many milliseconds as the file of `TEST_CLOCK_FILE` says, from the moment
// when it says so. Timers and the steady clock go on, as they do where a clock is set.
import { readFileSync } from 'node:fs';

const file = process.env.TEST_CLOCK_FILE ?? '';
let offMs = 0;
const read = () => {
  try {
    offMs = Number(readFileSync(file, 'utf8'));
  } catch {
    // Not said yet: it is right.
  }
};
read();
setInterval(read, 20).unref();

const RealDate = Date;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, as) =>
    Reflect.construct(target, given.length === 0 ? [RealDate.now() + offMs] : given, as) as object,
  apply: () => new Date().toString(),
  get: (target, name) => (name === 'now' ? () => RealDate.now() + offMs : Reflect.get(target, name)),
});
