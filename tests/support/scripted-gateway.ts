// The scripted gateway of services/worker, for other packages.
export { requestOf } from '../../services/worker/src/test/running-worker.ts';
export { startScriptedGateway } from '../../services/worker/src/test/scripted-gateway.ts';
