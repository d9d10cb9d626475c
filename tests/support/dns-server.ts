// The scripted name server of packages/scan, for other packages.
export * from '../../packages/scan/src/test/dns-server.ts';
