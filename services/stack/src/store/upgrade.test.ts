// The oldest schema, one in the middle and the newest; the rest: upgrade.full.test.ts.
import { RELEASED, upgradesFrom } from './test/upgrade.ts';

upgradesFrom(RELEASED.filter((name) => /^(001|007|014)-/.test(name)));
