// What tests of all packages use; what starts services, browsers or databases is imported by its own file.

export * from './ed25519.ts';
export * from './end-process.ts';
export * from './fake-service.ts';
export * from './free-port.ts';
export * from './random.ts';
export * from './raw-http.ts';
export * from './shared.ts';
export * from './stopped-time.ts';
export * from './temporary-directory.ts';
export * from './until.ts';
export * from './vectors.ts';
