// What the tests of this package use.
export * from './best-posture.ts';
export * from './community-set.ts';
export * from './evidence-of.ts';
export * from './rows.ts';
export * from './rulebook-of.ts';
