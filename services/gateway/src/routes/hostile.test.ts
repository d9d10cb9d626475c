// Hostile request bodies to the gateway.
import { describeHostileBodies } from '../test/hostile-bodies.ts';

describeHostileBodies(400);
