// The public interface of @strata/gateway: settings and the running service.
export { createGateway, type Gateway, type GatewayStoreConfig, type GatewayWorld, openGatewayStore } from './app.ts';
export {
  Environment as GatewayEnvironment,
  type GatewayConfig,
  inferenceDirectory,
  readGatewayConfig,
} from './config.ts';
export type { GatewayNetwork } from './network/gateway-network.ts';
export { type RunningGateway, serveGateway, startGateway } from './serve.ts';
