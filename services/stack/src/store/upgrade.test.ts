// The oldest schema; the rest: upgrade.full.test.ts.
import { RELEASED, upgradesFrom } from './test/upgrade.ts';

upgradesFrom(RELEASED.slice(0, 1));
