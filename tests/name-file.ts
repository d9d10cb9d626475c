// The first file of each group: for each test, the file that declares it, also where a helper in another file calls `it`.
import { channel } from 'node:diagnostics_channel';
import { beforeEach } from 'node:test';

const started = channel('strata:test-started');
beforeEach((t) => {
  if ('fullName' in t) started.publish({ name: t.fullName, file: t.filePath });
});
