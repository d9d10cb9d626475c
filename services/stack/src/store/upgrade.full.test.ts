// Every schema that was released.
import { RELEASED, upgradesFrom } from './test/upgrade.ts';

upgradesFrom(RELEASED);
