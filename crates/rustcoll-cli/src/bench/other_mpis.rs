//! Other MPIs than Open MPI as contestants. Each has its own jobs, which take turns with those of the components.

use super::Race;
use super::plan::Experiment;
use measurements::Contestant;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How to start an MPI's jobs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherMpi {
    /// A template, as for Open MPI.
    pub launcher: String,
    /// The measuring program, built for this MPI.
    pub program: PathBuf,
}

/// Other MPIs by the names under which they are contestants.
pub type OtherMpis = BTreeMap<String, OtherMpi>;

/// A job, and the other MPI that runs it; none for Open MPI.
pub type Part<'plan> = (Option<(&'plan str, &'plan OtherMpi)>, Race);

/// Returns the jobs of a race: first that of the components, then those of other MPIs.
pub fn parts<'plan>(race: &Race, mpis: &'plan OtherMpis) -> Vec<Part<'plan>> {
    let of = |is_one: &dyn Fn(&Contestant) -> bool| {
        let contestants = race.contestants.iter().filter(|contestant| is_one(contestant)).cloned().collect();
        Race { contestants, ..race.clone() }
    };
    let own = of(&|contestant| !mpis.contains_key(&contestant.component));
    let others = mpis
        .iter()
        .map(|(name, mpi)| (Some((&name[..], mpi)), of(&|contestant| contestant.component == *name)));
    [(None, own)].into_iter().chain(others).filter(|(_, race)| !race.contestants.is_empty()).collect()
}

/// Fails if an experiment needs something that other MPIs cannot do.
pub fn check(experiment: &Experiment, contestants: &[Contestant], mpis: &OtherMpis) -> Result<(), String> {
    for (place, contestant) in contestants.iter().enumerate() {
        let name = &contestant.component;
        let refuse =
            |reason: &str| Err(format!("the contestant {contestant}: {name} is another MPI{reason}"));
        match mpis.contains_key(name) {
            true if place == 0 => return refuse(", and the first contestant is a component of Open MPI"),
            true if !contestant.is_plain() && contestant.mock_up().is_none() => {
                return refuse(", whose algorithms cannot be chosen");
            }
            true if experiment.network.is_some() => return refuse(", which is measured on one node alone"),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_other_mpi_has_a_job_of_its_own() {
        let mpi = OtherMpi { launcher: "run".into(), program: "measure".into() };
        let mpis = OtherMpis::from([("mpich".to_owned(), mpi.clone()), ("idle".to_owned(), mpi)]);
        let contestants = ["rustcoll", "mpich", "tuned"].map(|name| name.parse().unwrap()).to_vec();
        let race = Race::new(2, 2, vec!["barrier".parse().unwrap()], contestants).unwrap();
        let told: Vec<(Option<&str>, usize)> = parts(&race, &mpis)
            .into_iter()
            .map(|(mpi, race)| (mpi.map(|(name, _)| name), race.contestants.len()))
            .collect();
        assert_eq!(told, [(None, 2), (Some("mpich"), 1)]);
    }
}
