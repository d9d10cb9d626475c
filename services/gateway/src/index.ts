// The public interface of @strata/gateway: settings and the running service.
export { type GatewayStoreConfig, openGatewayStore } from './app.ts';
export {
  Environment as GatewayEnvironment,
  type GatewayConfig,
  inferenceDirectory,
  namesModels,
  readGatewayConfig,
} from './config.ts';
export { type RunningGateway, serveGateway, startGateway } from './serve.ts';
