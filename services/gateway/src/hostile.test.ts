import { describeHostileBodies } from './test/hostile-bodies.ts';

describeHostileBodies(400);
