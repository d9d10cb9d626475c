// The same promises wherever a store is kept.
import { openStore } from './index.ts';
import { storeConformance } from './test/conformance.ts';
import { places } from './test/places.ts';

for (const { name, skip, fresh } of places) storeConformance(name, async () => openStore(await fresh()), skip);
