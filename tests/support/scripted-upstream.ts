// The scripted upstream of packages/engine, for other packages.
export * from '../../packages/engine/src/test/scripted.ts';
