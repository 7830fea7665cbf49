"""The parts of `lab/lab`, an emulated cluster."""
