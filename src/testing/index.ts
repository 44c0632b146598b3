/** The fakes Maestro is tested with, for testing what is built on it. */
export { ManualClock } from "../domain/manual-clock.ts";
export type { SimulatedScript, SimulatedTurn } from "../personas/model/simulated/script.ts";
export { type ArmedFault, armFault, type FaultPoint, faultPoints } from "../store/fault-points.ts";
